#include "experiments/experiment_status.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/experiments/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

void set_updated(const RunFolder& run, const std::string& time) {
  RunStatus status = run.status();
  status.updated = time;
  run.write_status(status);
}

TEST(ExperimentStatus, CountsEveryStateAndSaysWhy) {
  const ScratchFolder scratch;
  const auto store = [&](std::int64_t seed, const std::string& state) {
    return store_run(scratch.path(), made_up_config("even_pairs", "rope", seed), state, 0.5);
  };
  store(0, "finished");
  set_updated(store(1, "training"), current_utc_time());
  store(2, "training");  // Last heard of long ago.
  store(3, "interrupted");
  store(4, "failed");
  RunFolder::create(scratch.path(), made_up_config("even_pairs", "rope", 5));
  std::ofstream(store(6, "finished").path() / "evaluation.csv") << "torn";
  std::ofstream(store(7, "finished").path() / "config.yaml") << "torn";
  RunConfig more = made_up_config("even_pairs", "rope", 0);
  more.seed = 8;
  store_run(scratch.path(), more, "finished", 0.5);
  more.evaluation.last_length += 10;  // Asks for lengths that are not there yet.
  RunFolder::create(scratch.path(), more);

  const ExperimentStatus status = experiment_status(scratch.path());
  EXPECT_EQ(status.runs, 9U);
  EXPECT_EQ(status.finished, 1U);
  EXPECT_EQ(status.running, 1U);
  EXPECT_EQ(status.stopped, 2U);
  EXPECT_EQ(status.failed, 1U);
  EXPECT_EQ(status.waiting, 2U);
  EXPECT_EQ(status.damaged, 2U);
  EXPECT_GT(status.seconds_left, 0);
  EXPECT_FALSE(status.over());
  const std::string text = describe(status);
  for (const char* part :
       {"9 runs: 1 finished, 1 running, 2 stopped, 1 failed, 2 waiting, 2 damaged; about ",
        "  running   even_pairs", "step 200/1000 (20 %), 80.0 steps/s", "nothing heard for ",
        "loss is not finite at step 200", "evaluation.csv:1:", "config.yaml"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

}  // namespace
}  // namespace che
