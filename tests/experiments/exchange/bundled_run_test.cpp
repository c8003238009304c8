// What a run in a bundle cannot have. Its files have right checksums, and `che run` does not write them.
#include "experiments/exchange/bundled_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/files.h"
#include "experiments/exchange/bundle.h"
#include "experiments/plan/evaluation_settings.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;

class BundledRuns : public ScratchTest {
 protected:
  fs::path experiment() const { return scratch_.path() / "made_up"; }
};

TEST_F(BundledRuns, HasNoFinishedRunAtAnotherStep) {
  const RunFolder run =
      store_run(experiment(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75);
  RunStatus status = run.status();
  for (const std::int64_t step : {std::int64_t{1}, std::int64_t{1'000'000'000'000'000'000}}) {
    status.step = step;
    run.write_status(status);
    expect_contains(message_of([&] { write_bundle(experiment(), scratch_.path() / "made_up.tar.zst"); }),
                    {"status.json: finished at step " + std::to_string(step) + " of 1000"});
  }
}

// Somebody who trains the rest would find them finished.
TEST_F(BundledRuns, HasNoRowsOfARunThatWasNotTrained) {
  const RunFolder run =
      store_run(experiment(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75);
  RunStatus status = run.status();
  status.state = RunState::kWaiting;
  status.step = 0;
  run.write_status(status);
  expect_contains(message_of([&] { write_bundle(experiment(), scratch_.path() / "made_up.tar.zst"); }),
                  {"status.json: waiting at step 0 of 1000, and evaluation.csv has rows"});
}

// Rows with a right checksum that `che run` does not write.
TEST_F(BundledRuns, HasNoRowsThatNoRunCanHave) {
  const RunFolder run =
      store_run(experiment(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  const std::vector<EvaluationRow> good = run.evaluation();
  const auto refused = [&](const std::function<void(EvaluationRow&)>& change, const std::string& part) {
    std::vector<EvaluationRow> rows = good;
    change(rows.front());
    std::ranges::sort(rows, {}, &EvaluationRow::length);
    run.write_evaluation(rows);
    expect_contains(message_of([&] { write_bundle(experiment(), scratch_.path() / "made_up.tar.zst"); }),
                    {"evaluation.csv: " + part});
  };
  const double infinity = std::numeric_limits<double>::infinity();
  refused([](EvaluationRow& row) { row.samples = 0; }, "0 samples at length 41; allowed: multiples of 64");
  refused([](EvaluationRow& row) { row.samples = 65; }, "65 samples at length 41; allowed: multiples of 64");
  refused([](EvaluationRow& row) { row.accuracy_se = 0.5; },
          "the standard error 0.5 at length 41; allowed: none of a single batch of 64 samples");
  refused([&](EvaluationRow& row) { row.loss = -infinity; }, "the loss -inf at length 41; allowed: a number");
  refused([](EvaluationRow& row) { row.loss = -1; }, "the loss -1 at length 41");
  refused([](EvaluationRow& row) { row.length = 0; }, "a row of length 0; allowed: 1 to 10000");
  refused([](EvaluationRow& row) { row.length = 10'001; }, "a row of length 10001; allowed: 1 to 10000");
  refused([](EvaluationRow& row) { row.accuracy = 0.4005; },
          "64 samples of one symbol cannot have the accuracy 0.4005 at length 41");
  // A setting at its default would count the row in a column of its own.
  refused(
      [](EvaluationRow& row) {
        row.encoding_settings = {{"scaling", "none"}};
      },
      "length 41: encoding_settings scaling=none; allowed: settings off their defaults");
  std::vector<EvaluationRow> unbounded = good;
  unbounded.front().loss = infinity;  // A probability of 0.
  run.write_evaluation(unbounded);
  EXPECT_EQ("(no error)",
            message_of([&] { write_bundle(experiment(), scratch_.path() / "made_up.tar.zst"); }));
  run.write_evaluation(good);
  const std::vector<MetricsRow> steps = run.metrics();
  const auto refused_step = [&](const std::function<void(MetricsRow&)>& change, const std::string& part) {
    std::vector<MetricsRow> rows = steps;
    change(rows.back());
    run.write_metrics(rows);
    expect_contains(message_of([&] { write_bundle(experiment(), scratch_.path() / "made_up.tar.zst"); }),
                    {"metrics.csv: " + part});
  };
  const double none = std::numeric_limits<double>::quiet_NaN();
  refused_step([&](MetricsRow& row) { row.loss = infinity; },
               "the number inf at step 1000; allowed: finite numbers from 0 on");
  refused_step([&](MetricsRow& row) { row.seconds = none; }, "the number nan at step 1000");
  refused_step([](MetricsRow& row) { row.seconds = 0; }, "0 seconds at step 1000, and ");
  refused_step([](MetricsRow& row) { row.validation_loss = -1; }, "the number -1 at step 1000");
  refused_step([](MetricsRow& row) { row.step = 1'000'000; }, "a row of step 1000000; allowed: steps from 1");
  refused_step([](MetricsRow& row) { row.step = 900; }, "ends at step 900 of a run that finished 1000 steps");
  run.write_metrics(steps);
  RunStatus status = run.status();
  status.evaluation_seconds = -1;
  run.write_status(status);
  expect_contains(message_of([&] { write_bundle(experiment(), scratch_.path() / "made_up.tar.zst"); }),
                  {"status.json: -1 seconds"});
}

TEST_F(BundledRuns, HasNoEvaluationAtAStepThatTheRunHasNot) {
  const RunFolder run =
      store_run(experiment(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75);
  run.write_at_steps({{1001, run.evaluation()}});
  expect_contains(message_of([&] { write_bundle(experiment(), scratch_.path() / "made_up.tar.zst"); }),
                  {"evaluation_at_steps.csv: a row of step 1001; the run has 1000 steps"});
}

TEST_F(BundledRuns, OfTasksHaveNoWindowsOfTexts) {
  const RunFolder run =
      store_run(experiment(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75);
  write_file_atomically(run.path() / "windows.csv", "anything");
  expect_contains(message_of([&] { write_bundle(experiment(), scratch_.path() / "made_up.tar.zst"); }),
                  {run.id(), "has windows or positions of a text, and the run is on a task"});
}

// All files of a run are in memory together.
TEST_F(BundledRuns, HasRunsOfABoundedSize) {
  const RunFolder run =
      store_run(experiment(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75);
  for (const char* name : {"positions.csv", "windows.csv", "predictions-000000000000.jsonl.zst",
                           "predictions-000000000001.jsonl.zst"}) {
    write_file_atomically(run.path() / name, "");
    fs::resize_file(run.path() / name, std::uintmax_t{64} << 20);
  }
  expect_contains(message_of([&] { write_bundle(experiment(), scratch_.path() / "made_up.tar.zst"); }),
                  {"its files have more than 256 MiB, which is the most for a run of a bundle"});
}

TEST_F(BundledRuns, HasLossesOfTextsThatAreTheMeanOfTheirWindows) {
  const RunConfig config =
      read("name: x\nbase: {text: austen, encoding: rope, evaluation: {lengths: [16]}}\n").runs.front();
  const RunFolder run = store_run(experiment(), config, RunState::kFinished);
  std::vector<EvaluationRow> rows = run.evaluation();
  rows.front().encoding_settings = evaluation_settings(config);
  rows.front().windows.assign(64, {.window = {.document = 5, .end = 1000}, .loss = 2});
  rows.front().positions = {{.first = 0, .count = 16, .loss = 2}};
  const auto outcome = [&](double loss) {
    rows.front().loss = loss;
    run.write_evaluation(rows);
    return message_of([&] { write_bundle(experiment(), scratch_.path() / "made_up.tar.zst"); });
  };
  EXPECT_EQ("(no error)", outcome(2));
  EXPECT_EQ("(no error)", outcome(2 + 1e-6)) << "summed in single precision";
  for (const double loss : {1.99, std::numeric_limits<double>::quiet_NaN()}) {
    expect_contains(outcome(loss),
                    {"evaluation.csv: 64 samples with the mean loss", "windows.csv has 64 with 2"});
  }
  rows.front().positions.front().loss = -1;
  expect_contains(outcome(2), {"positions.csv has the loss -1 at position 0 of length 16"});
  rows.front().windows[0].loss = -1000;
  rows.front().windows[1].loss = 1004;
  expect_contains(outcome(2), {"windows.csv has the loss -1000 at length 16"});
  rows.front().windows[0].loss = rows.front().windows[1].loss = 2;
  rows.front().windows.pop_back();
  expect_contains(outcome(2), {"windows.csv has 63 with 2"});
  rows.front().windows.clear();
  rows.front().positions.clear();
  expect_contains(outcome(2), {"windows.csv: lacks the windows of length 16"});
  rows.front().windows.assign(63, {.window = {.document = 5, .end = 1000}, .loss = 2});
  rows.front().windows.front().loss = std::numeric_limits<double>::infinity();
  expect_contains(outcome(2), {"windows.csv has 63 with inf"});
  rows.front().windows.push_back(rows.front().windows.back());
  expect_contains(outcome(2),
                  {"64 samples with the mean loss 2 at length 16, and windows.csv has 64 with inf"});
  EXPECT_EQ("(no error)", outcome(std::numeric_limits<double>::infinity()));
}

}  // namespace
}  // namespace che
