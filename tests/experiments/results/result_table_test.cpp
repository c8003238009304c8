#include <gtest/gtest.h>

#include <cmath>

#include "core/files.h"
#include "experiments/plan/sweep.h"
#include "experiments/results/best_encodings.h"
#include "experiments/results/comparison.h"
#include "experiments/results/provenance.h"
#include "experiments/results/read_results.h"
#include "tables/notes.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using ResultTableTest = ScratchTest;

TEST_F(ResultTableTest, SummarizesTheFinishedRunsOfACell) {
  const std::vector<double> scores = {0.9, 0.2, 0.4, 0.1};
  for (std::int64_t seed = 0; seed < 4; ++seed) {
    store_run(scratch_.path(), made_up_config("reverse_string", "rope", seed), RunState::kFinished,
              scores[static_cast<std::size_t>(seed)]);
  }
  store_run(scratch_.path(), made_up_config("reverse_string", "rope", 4), RunState::kFailed);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  const TableCell* cell = cell_called(table, "reverse_string", "rope");
  ASSERT_NE(cell, nullptr);
  ASSERT_TRUE(cell->scores.has_value());
  EXPECT_EQ(cell->finished.size(), 4U);
  EXPECT_EQ(cell->missing.size(), 1U);
  EXPECT_EQ(table.runs[cell->best].config.seed, 0);
  EXPECT_DOUBLE_EQ(cell->scores->max, 0.9);
  EXPECT_DOUBLE_EQ(cell->scores->mean, 0.4);
  EXPECT_DOUBLE_EQ(cell->scores->median, 0.3);
  // Squared distances to the mean: 0.25, 0.04, 0, 0.09.
  EXPECT_NEAR(cell->scores->deviation.value(), std::sqrt(0.38 / 3), 1e-15);
  EXPECT_EQ(cell->paper->score, 0.6523);
  EXPECT_FALSE(cell->paper->is_comparable);
  EXPECT_EQ(cell_called(table, "reverse_string", "none"), nullptr);
}

TEST_F(ResultTableTest, OnlyFinishedRunsCountEvenWithEveryLengthMeasured) {
  const RunFolder folder =
      store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  RunStatus status = folder.status();
  status.state = RunState::kInterrupted;
  folder.write_status(status);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_FALSE(cell_called(table, "reverse_string", "rope")->scores.has_value());
}

TEST_F(ResultTableTest, OneRunHasNoDeviation) {
  store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_FALSE(cell_called(table, "reverse_string", "rope")->scores->deviation.has_value());
}

TEST_F(ResultTableTest, HasNoChanceWhereItDiffersBetweenTheLengthsOfARow) {
  write_file_atomically(scratch_.path() / "last.yaml",
                        "name: last\nsymbols: [a, b, c]\nanswer: states\noutputs: [x, y]\n"
                        "automaton: |\n  0 1 a\n  0 0 b\n  0 0 c\n  1 1 a\n  1 1 b\n  1 0 c\n  0\n  1\n");
  write_file_atomically(scratch_.path() / "c.yaml",
                        "name: c\nbase: {task: {file: last.yaml}, encoding: rope}\n");
  const auto chance_with = [&](const std::string& lengths, std::int64_t seed) {
    RunConfig config = read_sweep(scratch_.path() / "c.yaml", {"evaluation.lengths=" + lengths}).runs.front();
    config.seed = seed;
    store_run(scratch_.path() / "results", config, RunState::kFinished, 0.5);
    return make_table(open_runs(scratch_.path() / "results")).rows.front().chance;
  };
  const std::optional<double> chance = chance_with("[5]", 0);
  ASSERT_TRUE(chance.has_value());
  EXPECT_EQ(chance_with("[5]", 1), chance);
  EXPECT_FALSE(chance_with("[1000]", 0).has_value());
}

// What `che evaluate --set` measured of the same trained model.
TEST_F(ResultTableTest, AnotherSettingOfTheEncodingInEvaluationIsAColumn) {
  const RunConfig config = made_up_config("reverse_string", "rope");
  const RunFolder folder = store_run(scratch_.path(), config, RunState::kFinished, 0.5);
  std::vector<EvaluationRow> rows = folder.evaluation();
  for (EvaluationRow row : folder.evaluation()) {
    row.encoding_settings = {{"scaling", "yarn"}};
    row.accuracy = 0.75;
    store_row(rows, row);
    // Not at every test length, which is no score.
    row.encoding_settings = {{"scaling", "ntk"}};
    if (row.length == config.evaluation.first_length) store_row(rows, row);
  }
  folder.write_evaluation(rows);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_EQ(texts_of(table.encodings), (std::vector<std::string>{"rope", "rope(scaling=yarn)"}));
  EXPECT_EQ(cell_called(table, "reverse_string", "rope")->scores->max, 0.5);
  EXPECT_EQ(cell_called(table, "reverse_string", "rope(scaling=yarn)")->scores->max, 0.75);
  ASSERT_EQ(table.runs.size(), 2U);
  EXPECT_EQ(table.runs[0].id, table.runs[1].id);
  ASSERT_EQ(table.by_stored_run().size(), 1U);
  EXPECT_EQ(table.by_stored_run()[0].size(), 2U);
  for (const TableRun& run : table.runs) {
    EXPECT_EQ(run.measured.size(), config.evaluation.lengths().size()) << run.encoding.text();
  }
}

// It would count twice.
TEST_F(ResultTableTest, ARowWithASettingAtItsDefaultIsDamaged) {
  const RunFolder folder =
      store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  std::vector<EvaluationRow> rows = folder.evaluation();
  for (EvaluationRow row : folder.evaluation()) {
    row.encoding_settings = {{"scaling", "none"}};
    store_row(rows, row);
  }
  folder.write_evaluation(rows);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  ASSERT_EQ(table.runs.size(), 1U);
  EXPECT_FALSE(table.runs[0].score);
  expect_contains(table.runs[0].damage, {"evaluation.csv: encoding_settings scaling=none; allowed: "});
}

TEST_F(ResultTableTest, RunsOfOtherSettingsAreNotMixed) {
  store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  RunConfig wide = made_up_config("reverse_string", "rope");
  wide.model.shape().width = 128;
  store_run(scratch_.path(), wide, RunState::kFinished, 0.75);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_EQ(texts_of(table.encodings),
            (std::vector<std::string>{"rope(model.width=64)", "rope(model.width=128)"}));
  EXPECT_EQ(cell_called(table, "reverse_string", "rope(model.width=64)")->scores->max, 0.5);
  EXPECT_EQ(cell_called(table, "reverse_string", "rope(model.width=128)")->scores->max, 0.75);
}

// The paper's values are those of encoders.
TEST_F(ResultTableTest, ADecoderHasAColumnOfItsOwnAndNoValueOfThePaper) {
  const RunConfig encoder = made_up_config("reverse_string", "randomized_rope");
  RunConfig decoder = encoder;
  decoder.model.kind = "decoder";
  store_run(scratch_.path(), decoder, RunState::kFinished, 0.75);
  EXPECT_EQ(texts_of(make_table(open_runs(scratch_.path())).encodings),
            (std::vector<std::string>{"randomized_rope"}));
  store_run(scratch_.path(), encoder, RunState::kFinished, 0.5);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  const std::string name = "randomized_rope(model.kind=decoder)";
  EXPECT_EQ(texts_of(table.encodings), (std::vector<std::string>{"randomized_rope", name}));
  EXPECT_EQ(cell_called(table, "reverse_string", "randomized_rope")->scores->max, 0.5);
  EXPECT_TRUE(cell_called(table, "reverse_string", "randomized_rope")->paper);
  EXPECT_EQ(cell_called(table, "reverse_string", name)->scores->max, 0.75);
  EXPECT_FALSE(cell_called(table, "reverse_string", name)->paper);
}

TEST_F(ResultTableTest, RunsMeasuredDifferentlyAreNotMixed) {
  store_run(scratch_.path(), made_up_config("reverse_string", "dape_kerple"), RunState::kFinished, 0.5);
  RunConfig longer = made_up_config("reverse_string", "dape_kerple", 1);
  longer.encoding.dape->hidden = 16;
  longer.evaluation.last_length = 60;
  store_run(scratch_.path(), longer, RunState::kFinished, 0.75);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_EQ(texts_of(table.encodings),
            (std::vector<std::string>{"dape_kerple(dape.hidden=16, evaluation.last_length=60)",
                                      "dape_kerple(evaluation.last_length=44)"}));
}

// 41, 43 and 45, written in two ways.
TEST_F(ResultTableTest, RunsMeasuredAtTheSameLengthsShareAColumnHoweverTheLengthsAreWritten) {
  for (const std::int64_t last : {45, 46}) {
    for (const char* encoding : {"rope", "none"}) {
      RunConfig run = made_up_config("reverse_string", encoding, last);
      run.evaluation.last_length = last;
      run.evaluation.length_step = 2;
      store_run(scratch_.path(), run, RunState::kFinished, 0.5);
    }
  }
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_EQ(texts_of(table.encodings), (std::vector<std::string>{"none", "rope"}));
  EXPECT_EQ(cell_called(table, "reverse_string", "rope")->finished.size(), 2U);
  EXPECT_EQ(compare(table, "rope", "none", Aggregate::kMean).tasks[0].seeds, 2U);
  bool is_written_once = false;
  for (const Fact& fact : provenance(table)) {
    is_written_once |= fact.value == "lengths 41..45 in steps of 2, 64 samples each; evaluation seeds: 0";
  }
  EXPECT_TRUE(is_written_once);
}

// As in configs/positions.yaml: each repetition has its own test samples, and one task has more of them.
TEST_F(ResultTableTest, EvaluationSeedsAreRepetitionsAndATasksOwnSettingsSplitNoColumn) {
  for (const char* const task : {"reverse_string", "even_pairs"}) {
    for (const char* const encoding : {"rope", "none"}) {
      for (std::int64_t seed = 0; seed < 2; ++seed) {
        RunConfig run = made_up_config(task, encoding, seed);
        run.evaluation.seed = seed;
        if (run.task.name == "even_pairs") run.evaluation.samples = 128;
        store_run(scratch_.path(), run, RunState::kFinished, encoding[0] == 'r' ? 0.875 : 0.75);
      }
    }
  }
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_EQ(texts_of(table.encodings), (std::vector<std::string>{"none", "rope"}));
  for (const TableRow& row : table.rows) {
    EXPECT_EQ(table.cell(row.task, table.encodings[1])->finished.size(), 2U);
    EXPECT_EQ(row.settings.front().text(),
              row.task.name == "even_pairs" ? "evaluation.samples=128" : "evaluation.samples=64");
    EXPECT_TRUE(best_encodings(table, row, Aggregate::kMax).measured_alike);
  }
  EXPECT_EQ(compare(table, "rope", "none", Aggregate::kMean).tasks[0].seeds, 2U);
  bool is_noted = false;
  for (const Fact& fact : provenance(table)) {
    is_noted |= fact.value == "evaluation.samples=128 (even_pairs), evaluation.samples=64 (reverse_string)";
  }
  EXPECT_TRUE(is_noted);
  // A column that lacks a seed that another has is measured on other samples.
  RunConfig third = made_up_config("even_pairs", "rope", 2);
  third.evaluation.samples = 128;
  third.evaluation.seed = 2;
  store_run(scratch_.path(), third, RunState::kFinished, 0.875);
  const ResultTable uneven = make_table(open_runs(scratch_.path()));
  EXPECT_FALSE(best_encodings(uneven, uneven.rows[0], Aggregate::kMax).measured_alike);
  EXPECT_EQ(compare(uneven, "rope", "none", Aggregate::kMean).tasks[0].seeds, 2U) << "pairs share samples";
}

// A best within the trivial predictors' reach has no mark, whether or not these are columns.
TEST_F(ResultTableTest, MarksFollowTheBaselinesThatAreNotShown) {
  // Sorted output: the likeliest symbol of each position alone is right in most places.
  for (const auto& [encoding, score] : {std::pair("rope", 0.75), {"none", 0.625}}) {
    RunConfig run = made_up_config("bucket_sort", encoding);
    run.evaluation.samples = 128;
    store_run(scratch_.path(), run, RunState::kFinished, score);
  }
  ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_TRUE(best_encodings(table, table.rows[0], Aggregate::kMax).is_distinct());
  add_trivial_baselines(table, BaselineUse::kMarks);
  EXPECT_FALSE(table.has_baselines);
  EXPECT_EQ(best_encodings(table, table.rows[0], Aggregate::kMax).weaknesses(),
            std::vector<WeakBest>{WeakBest::kTrivial});
}

TEST_F(ResultTableTest, SharedSettingsStayOutOfLabels) {
  store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  store_run(scratch_.path(), made_up_config("even_pairs", "none"), RunState::kFinished, 0.5);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_EQ(texts_of(table.encodings), (std::vector<std::string>{"none", "rope"}));
  EXPECT_EQ(texts_of(table.shared_settings),
            (std::vector<std::string>{"evaluation.last_length=44", "evaluation.samples=64", "model.width=64",
                                      "training.steps=1000"}));
}

TEST_F(ResultTableTest, CountsADamagedRunAsUnfinishedAndNamesItsFile) {
  store_run(scratch_.path(), made_up_config("even_pairs", "rope", 0), RunState::kFinished, 0.5);
  const RunFolder damaged =
      store_run(scratch_.path(), made_up_config("even_pairs", "rope", 1), RunState::kFinished, 1);
  const std::string csv = read_file(damaged.path() / "evaluation.csv");
  write_file_atomically(damaged.path() / "evaluation.csv",
                        csv.substr(0, csv.rfind('\n', csv.size() - 2) + 1));
  const ResultTable table = make_table(open_runs(scratch_.path()));
  const TableCell* const cell = cell_called(table, "even_pairs", "rope");
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->finished.size(), 1U);
  EXPECT_EQ(cell->scores->max, 0.5);
  const std::string file = (damaged.path() / "evaluation.csv").string();
  ASSERT_EQ(cell->missing.size(), 1U);
  EXPECT_TRUE(missing_reason(table.runs[cell->missing[0]]).starts_with("damaged: " + file));
  std::vector<std::string> warnings;
  warn_of_damage(table, [&](const std::string& warning) { warnings.push_back(warning); });
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("not counted: " + file)) << warnings[0];
}

TEST_F(ResultTableTest, MeasuresBaselinesOfRowsWithOneEvaluation) {
  store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  store_two_evaluations(scratch_.path());
  ResultTable table = make_table(open_runs(scratch_.path()));
  add_trivial_baselines(table);
  ASSERT_EQ(table.rows[0].task.name, "reverse_string");
  ASSERT_TRUE(table.rows[0].baselines.has_value());
  EXPECT_NEAR(table.rows[0].baselines->position_only.score, 0.5, 0.02);
  EXPECT_FALSE(table.rows[1].baselines.has_value()) << "two evaluations, no one number";
}

}  // namespace
}  // namespace che
