#include "experiments/time_table.h"

#include <gtest/gtest.h>

#include "tests/experiments/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(TimeTable, GivesMediansAndRatios) {
  const ScratchFolder scratch;
  for (const auto& [encoding, step] : {std::pair("dape_kerple", 0.02), std::pair("rope", 0.01)}) {
    RunConfig config = made_up_config("even_pairs", encoding);
    config.training.first_length = config.training.last_length = 40;
    const RunFolder run = store_run(scratch.path(), config, "finished", 0.5);
    // The first row holds the warm-up, the last a disturbance.
    std::vector<MetricsRow> rows;
    for (const double seconds : {5.0, 5 + 10 * step, 5 + 20 * step, 5 + 30 * step, 90.0}) {
      rows.push_back({.step = 10 * static_cast<std::int64_t>(rows.size() + 1), .seconds = seconds});
    }
    run.write_metrics(rows);
    RunStatus status = run.status();
    status.evaluation_seconds = 100 * step;  // Of four lengths with 64 samples.
    run.write_status(status);
  }
  EXPECT_EQ(
      time_table(open_runs(scratch.path()), "dape_kerple"),
      "even_pairs: milliseconds a training step, by training length\n\n| encoding | 40 |\n| --- | ---: |\n"
      "| rope | 10 (0.50) |\n| dape_kerple | 20 (1.00) |\n\n"
      "even_pairs: milliseconds a test batch of 64, by training length\n\n| encoding | 40 |\n| --- | ---: |\n"
      "| rope | 250 (0.50) |\n| dape_kerple | 500 (1.00) |\n\nIn parentheses the ratio to dape_kerple.\n");
  EXPECT_EQ(message_of([&] { time_table(open_runs(scratch.path()), "fire"); }),
            "no finished run has the encoding 'fire' to compare with; there are: dape_kerple, rope");
}

}  // namespace
}  // namespace che
