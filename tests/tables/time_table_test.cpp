#include <gtest/gtest.h>

#include <algorithm>

#include "core/files.h"
#include "models/architectures/foreign.h"
#include "tables/result_tables.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using TimeTable = ScratchTest;

TEST_F(TimeTable, GivesMediansAndRatios) {
  for (const auto& [encoding, step] : {std::pair("dape_kerple", 0.02), std::pair("rope", 0.01)}) {
    RunConfig config = made_up_config("even_pairs", encoding);
    config.training.first_length = config.training.last_length = 40;
    const RunFolder run = store_run(scratch_.path(), config, RunState::kFinished, 0.5);
    // The first row holds the warm-up, the last a disturbance.
    std::vector<MetricsRow> rows;
    for (const double seconds : {5.0, 5 + 10 * step, 5 + 20 * step, 5 + 30 * step, 90.0}) {
      rows.push_back({.step = config.training.steps - 40 + 10 * static_cast<std::int64_t>(rows.size()),
                      .seconds = seconds});
    }
    run.write_metrics(rows);
    RunStatus status = run.status();
    status.evaluation_seconds = 100 * step;  // It counts four lengths with 64 samples each.
    run.write_status(status);
  }
  EXPECT_EQ(
      time_table(step_times(open_runs(scratch_.path())), "dape_kerple"),
      "even_pairs: milliseconds per training step, by training length\n\n"
      "| encoding    |           40 |\n| ----------- | -----------: |\n"
      "| rope        | 10.00 (0.50) |\n| dape_kerple | 20.00 (1.00) |\n\n"
      "even_pairs: milliseconds per test batch of 64, by test length\n\n"
      "| encoding    |       41..44 |\n| ----------- | -----------: |\n"
      "| rope        | 250.0 (0.50) |\n| dape_kerple | 500.0 (1.00) |\n\nIn parentheses: the ratio to "
      "dape_kerple. "
      "A number is the median over a cell's finished runs: of each its median step between two log lines, or "
      "the mean test batch of its evaluation.\n");
  EXPECT_EQ(time_table(step_times(open_runs(scratch_.path())), "dape_kerple", "csv"),
            "task,measured,encoding,first_length,last_length,length_step,runs,milliseconds,ratio\n"
            "even_pairs,training_step,rope,40,40,1,1,10.000000000000009,0.5\n"
            "even_pairs,training_step,dape_kerple,40,40,1,1,20.000000000000018,1\n"
            "even_pairs,test_batch,rope,41,44,1,1,250,0.5\n"
            "even_pairs,test_batch,dape_kerple,41,44,1,1,500,1\n");
  for (const char* format : {"terminal", "tex", "json"}) {
    EXPECT_TRUE(
        contains(time_table(step_times(open_runs(scratch_.path())), "dape_kerple", format), "the ratio to"))
        << format;
  }
  EXPECT_EQ(message_of([&] { time_table(step_times(open_runs(scratch_.path())), "fire"); }),
            "'fire' is no encoding of this experiment; known: rope, dape_kerple");
  EXPECT_EQ(time_table(step_times(open_runs(scratch_.path())), ""),
            time_table(step_times(open_runs(scratch_.path())), "dape_kerple"));
}

TEST_F(TimeTable, NamesTheHardwareWhereItDiffers) {
  const auto note_is_there = [&] {
    return contains(time_table(step_times(open_runs(scratch_.path())), "rope"),
                    "settings of a GPU, which ratios compare, too: AMD; In\\x1btel.");
  };
  for (const auto& [encoding, processor] : {std::pair("rope", "In\x1btel"), std::pair("kerple", "AMD")}) {
    EXPECT_FALSE(encoding != std::string("rope") && note_is_there());
    const RunFolder run =
        store_run(scratch_.path(), made_up_config("even_pairs", encoding), RunState::kFinished, 0.5);
    RunStatus status = run.status();
    status.processor = processor;
    run.write_status(status);
  }
  EXPECT_TRUE(note_is_there());
}

TEST_F(TimeTable, CountsRunsThatOthersWorkedOnBefore) {
  const RunFolder run =
      store_run(scratch_.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  const auto table = [&] { return time_table(step_times(open_runs(scratch_.path())), "rope"); };
  EXPECT_FALSE(contains(table(), "before"));
  RunStatus status = run.status();
  status.earlier = "che 0.2.0, commit abc1234, on a Z80";
  run.write_status(status);
  expect_contains(table(),
                  {"worked before on 1 run, and their times count, too", "status.json of " + run.id()});
}

// Stores a run whose steps take `step` seconds and whose evaluation took 0.4 seconds.
RunFolder store_timed(const ScratchFolder& scratch, const RunConfig& config, double step) {
  const RunFolder run = store_run(scratch.path(), config, RunState::kFinished, 0.5);
  const std::int64_t steps = config.training.steps;
  run.write_metrics({{.step = steps - 10, .seconds = 5}, {.step = steps, .seconds = 5 + 10 * step}});
  RunStatus status = run.status();
  status.evaluation_seconds = 0.4;
  run.write_status(status);
  return run;
}

TEST_F(TimeTable, NamesCellsWhoseRunsDisagree) {
  for (const std::int64_t seed : {0, 1}) {
    store_timed(scratch_, made_up_config("even_pairs", "rope", seed), seed == 0 ? 0.01 : 2.5);
    store_timed(scratch_, made_up_config("even_pairs", "alibi", seed), seed == 0 ? 0.01 : 0.015);
  }
  const std::string table = time_table(step_times(open_runs(scratch_.path())), "rope");
  expect_contains(table, {"| rope     |  1255 (1.00) |"});
  EXPECT_TRUE(
      table.ends_with("\nRuns behind one number differ more than twofold in 1 of 4 numbers; the largest "
                      "difference: even_pairs rope, training step at 1..40: 10.00 to 2500.\n"))
      << table;
}

// The rows at steps of the run that it goes on from were measured in that run's time.
TEST_F(TimeTable, LeavesOutTestBatchesOfAContinuedRunWithRowsOfAnother) {
  const RunFolder run = store_timed(scratch_, made_up_config("even_pairs", "rope"), 0.01);
  RunStatus status = run.status();
  status.continued_from = "even_pairs-rope-lr0.0003-seed0-0123456789ab";
  run.write_status(status);
  expect_contains(time_table(step_times(open_runs(scratch_.path())), ""), {"per test batch"});
  run.write_at_steps({{500, run.evaluation()}});
  const std::string table = time_table(step_times(open_runs(scratch_.path())), "");
  EXPECT_FALSE(contains(table, "per test batch")) << table;
}

TEST_F(TimeTable, MixesNoRunsThatDifferInMoreThanLengths) {
  RunConfig config = made_up_config("even_pairs", "rope");
  store_timed(scratch_, config, 0.01);
  config.model.shape().width = 128;
  store_timed(scratch_, config, 0.03);
  config.training.last_length = 200;
  store_timed(scratch_, config, 0.05);
  const std::string table = time_table(step_times(open_runs(scratch_.path())), "rope(model.width=64)");
  expect_contains(table, {"| rope(model.width=64)  | 10.00 (1.00) |     -- |",
                          "| rope(model.width=128) | 30.00 (3.00) |  50.00 |"});
  EXPECT_FALSE(contains(table, "replicas")) << table;
}

// Runs that differ in seed and test lengths train alike; their test batches have columns of their own.
TEST_F(TimeTable, TellsTestBatchesByTestLengths) {
  RunConfig config = made_up_config("even_pairs", "rope");
  store_timed(scratch_, config, 0.01);
  config.seed = 1;
  config.evaluation.last_length = 45;
  config.evaluation.length_step = 4;
  store_timed(scratch_, config, 0.03);
  const std::string table = time_table(step_times(open_runs(scratch_.path())), "rope");
  expect_contains(table,
                  {"| encoding |        1..40 |\n| -------- | -----------: |\n| rope     | 20.00 (1.00) |",
                   "| encoding |       41..44 |  41..45 by 4 |\n| -------- | -----------: | -----------: |\n"
                   "| rope     | 100.0 (1.00) | 200.0 (1.00) |"});
}

TEST_F(TimeTable, TellsRunsApartThatAreComputedDifferently) {
  RunConfig config = made_up_config("even_pairs", "rope");
  store_timed(scratch_, config, 0.01);
  config.seed = 1;
  config.log.every_steps = 7;
  store_timed(scratch_, config, 0.03);
  config.seed = 2;
  config.execution.replicas = 8;
  store_timed(scratch_, config, 0.08);
  const std::string table = time_table(step_times(open_runs(scratch_.path())), "rope");
  expect_contains(
      table, {"| rope                       | 20.00 (1.00) |",
              "| rope(execution.replicas=8) | 80.00 (4.00) |", "the time of each is that of all of them"});
}

TEST_F(TimeTable, NamesWhatItLeavesOut) {
  const RunFolder more = store_timed(scratch_, made_up_config("even_pairs", "rope"), 0.01);
  std::vector<EvaluationRow> rows = more.evaluation();
  rows.push_back({.length = 99, .samples = 64, .accuracy = 0.5});
  more.write_evaluation(rows);
  store_run(scratch_.path(), made_up_config("even_pairs", "rope", 1), RunState::kFailed);
  const RunFolder torn = store_timed(scratch_, made_up_config("even_pairs", "rope", 2), 0.01);
  write_file_atomically(torn.path() / "metrics.csv", "torn");
  for (const std::int64_t seed : {3, 4})
    RunFolder::create(scratch_.path(), made_up_config("even_pairs", "rope", seed));
  std::string warnings;
  const std::string table =
      time_table(step_times(open_runs(scratch_.path()), {},
                            [&](const std::string& warning) { warnings += warning + "\n"; }),
                 "");
  // Without dape_kerple, the first encoding is the base of the ratios.
  expect_contains(table, {"| rope     | 10.00 (1.00) |"});
  EXPECT_FALSE(contains(table, "per test batch")) << table;
  EXPECT_EQ(std::ranges::count(warnings, '\n'), 4) << warnings;
  expect_contains(warnings, {std::string("left out: 2 of 5 runs, not begun"),
                             std::string("the test batches of 1 of 5 runs"), "such as " + more.id(),
                             std::string("is failed: loss is not finite"),
                             torn.id() + " is damaged: " + (torn.path() / "metrics.csv").string()});
}

TEST_F(TimeTable, SaysWhenNothingIsFinished) {
  RunFolder::create(scratch_.path(), made_up_config("even_pairs", "rope"));
  EXPECT_EQ(message_of([&] { step_times(open_runs(scratch_.path()), {}, [](const std::string&) {}); }),
            "no run is finished and undamaged; `che run` continues them");
}

// Their settings must not show in the labels of the other runs.
TEST_F(TimeTable, LeavesOutModelsOutside) {
  RunConfig config = made_up_config("even_pairs", "rope");
  config.model = foreign_model("my_lstm");
  config.evaluation.samples *= 2;
  store_run(scratch_.path(), config, RunState::kFinished, 0.5);
  std::vector<std::string> warnings;
  const auto note = [&](const std::string& warning) { warnings.push_back(warning); };
  EXPECT_EQ(message_of([&] { step_times(open_runs(scratch_.path()), {}, note); }),
            "all these runs are of models outside che, which have no times; allowed: runs of `che run`");
  store_timed(scratch_, made_up_config("even_pairs", "rope"), 0.01);
  const StepTimes times = step_times(open_runs(scratch_.path()), {}, note);
  ASSERT_EQ(1U, times.encodings.size());
  EXPECT_EQ("rope", times.encodings.front().text());
  EXPECT_EQ(std::vector<std::string>{"left out: 1 of 2 runs, of models outside che, which have no times"},
            warnings);
}

TEST_F(TimeTable, SaysWhyTheBaseIsMissing) {
  store_timed(scratch_, made_up_config("even_pairs", "rope"), 0.01);
  store_timed(scratch_, made_up_config("even_pairs", "alibi"), 0.01);
  RunFolder::create(scratch_.path(), made_up_config("even_pairs", "kerple"));
  const auto refusal = [&](const std::string& base) {
    return message_of([&] {
      time_table(step_times(open_runs(scratch_.path()), RunChoice({.only = {"encoding=[rope,kerple]"}}),
                            [](const std::string&) {}),
                 base);
    });
  };
  EXPECT_EQ(refusal("alibi"), "'alibi' is left out by --only or --skip; there are: rope");
  EXPECT_EQ(refusal("kerple"), "'kerple' has no finished run; there are: rope");
}

TEST_F(TimeTable, SaysWhereTheBaseHasNoTime) {
  RunConfig config = made_up_config("even_pairs", "rope");
  store_timed(scratch_, config, 0.01);
  config.encoding.reset("alibi");
  config.training.last_length = 50;
  store_timed(scratch_, config, 0.01);
  const std::string table = time_table(step_times(open_runs(scratch_.path())), "rope");
  expect_contains(table, {"\nA time without a ratio: rope has none of that task and these lengths.\n"});
}

TEST_F(TimeTable, HasFourDigitsAndNoPowers) {
  RunConfig config = made_up_config("even_pairs", "alibi");
  config.training.first_length = config.training.last_length = 7;
  store_timed(scratch_, config, 0.99996);
  config.encoding.reset("none");
  store_timed(scratch_, config, 1e-8);
  config.encoding.reset("rope");
  store_timed(scratch_, config, 0.0099996);
  const std::string table = time_table(step_times(open_runs(scratch_.path())), "");
  expect_contains(table, {" 1000 (", " 10.00 (", " 0.000 ("});
}

}  // namespace
}  // namespace che
