#include "experiments/results/reading_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <limits>

#include "experiments/results/comparison.h"
#include "tables/units.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using ReadingRulesTest = ScratchTest;

// A finished run whose accuracy at each length is a hundredth of it, which a mean gives away.
RunFolder store_by_length(const std::filesystem::path& folder, const RunConfig& config,
                          const std::vector<std::int64_t>& lengths) {
  const RunFolder run = store_run(folder, config, RunState::kFinished, 0.5);
  std::vector<EvaluationRow> rows;
  for (const std::int64_t length : lengths) {
    rows.push_back({.length = length,
                    .samples = config.evaluation.samples,
                    .seed = config.evaluation.seed,
                    .accuracy = static_cast<double>(length) / 100});
  }
  run.write_evaluation(rows);
  return run;
}

ReadingRules rules_for(const std::string& lengths) {
  return {.score_lengths = LengthChoice(lengths), .select = {}};
}

TEST_F(ReadingRulesTest, LengthsAreNumbersAndRanges) {
  const LengthChoice choice("7,41:50:3,95:97");
  std::vector<std::int64_t> held;
  for (std::int64_t length = 0; length < 120; ++length) {
    if (choice.contains(length)) held.push_back(length);
  }
  EXPECT_EQ(held, (std::vector<std::int64_t>{7, 41, 44, 47, 50, 95, 96, 97}));
  for (const char* const wrong : {"", "50,", "500:95", "41:50:0", "x", "50 100"}) {
    EXPECT_TRUE(contains(message_of([&] { LengthChoice{wrong}; }), "allowed: lengths and ranges")) << wrong;
  }
}

TEST_F(ReadingRulesTest, ScoresAreMeansOverTheChosenLengthsThatWereMeasured) {
  // 60 and 80 are not of the config, which asks for 41..44.
  store_by_length(scratch_.path(), made_up_config("even_pairs", "rope"), {41, 42, 43, 44, 60, 80});
  const auto score_at = [&](const std::string& lengths) {
    return *make_table(open_runs(scratch_.path()), rules_for(lengths)).runs[0].score;
  };
  EXPECT_DOUBLE_EQ(score_at("44:500"), (0.44 + 0.60 + 0.80) / 3);
  EXPECT_DOUBLE_EQ(score_at("42,80,90"), (0.42 + 0.80) / 2);
  EXPECT_DOUBLE_EQ(*make_table(open_runs(scratch_.path())).runs[0].score, 0.425);
  expect_contains(message_of([&] { score_at("90:500"); }), {"it was at 41,42,43,44,60,80"});
}

// Rows of other samples count in no score, and a table says which.
TEST_F(ReadingRulesTest, LengthsOfOtherSamplesAreNamed) {
  const RunFolder run =
      store_by_length(scratch_.path(), made_up_config("even_pairs", "rope"), {41, 42, 43, 44});
  std::vector<EvaluationRow> rows = run.evaluation();
  for (const std::int64_t length : {60, 80}) {
    EvaluationRow other = rows.front();
    other.length = length;
    other.samples = 2 * other.samples;
    store_row(rows, other);
  }
  run.write_evaluation(rows);
  const auto table_at = [&](const std::string& lengths) {
    return make_table(open_runs(scratch_.path()), rules_for(lengths));
  };
  const ResultTable both = table_at("44:500");
  EXPECT_DOUBLE_EQ(*both.runs[0].score, 0.44);
  const std::string note = fmt::format("{}", fmt::join(both.reading_notes, " "));
  expect_contains(note, {"config of a run names: 44.", "Of 1 run, further ones were measured", ": 60,80."});
  const ResultTable own = table_at("41:44");
  EXPECT_EQ(fmt::format("{}", fmt::join(own.reading_notes, " ")).find("further ones"), std::string::npos);
  expect_contains(message_of([&] { table_at("60:500"); }),
                  {"none of these lengths with the samples, seed and switches of its config; it was at "
                   "41:44, and with others at 60,80"});
}

// A run that was measured at the lengths and has no loss there is not one that was not measured.
TEST_F(ReadingRulesTest, ALossThatIsNoNumberIsNoScore) {
  const RunFolder run =
      store_by_length(scratch_.path(), made_up_config("even_pairs", "rope"), {41, 42, 43, 44});
  std::vector<EvaluationRow> rows = run.evaluation();
  for (EvaluationRow& row : rows) row.loss = std::numeric_limits<double>::quiet_NaN();
  run.write_evaluation(rows);
  ReadingRules rules = rules_for("41:44");
  rules.metric = Metric::named("loss");
  const ResultTable table = make_table(open_runs(scratch_.path()), rules);
  EXPECT_FALSE(table.runs[0].score);
  expect_contains(score_units(table, "in percent"), {"Accuracies are in percent, scores are nats"});
}

// The config that ran last decides nothing: two runs whose configs ask for other lengths share a column where
// the same ones are left, and have columns of their own where they are not.
TEST_F(ReadingRulesTest, ColumnsAreLabelledByTheLengthsThatAreLeft) {
  store_by_length(scratch_.path(), made_up_config("even_pairs", "rope", 0), {41, 42, 43, 44, 60, 70, 80});
  RunConfig longer = made_up_config("even_pairs", "rope", 1);
  longer.evaluation = {.first_length = 60, .last_length = 80, .length_step = 10, .samples = 64};
  store_by_length(scratch_.path(), longer, {60, 70, 80});
  const auto columns = [&](const std::string& lengths) {
    return texts_of(make_table(open_runs(scratch_.path()), rules_for(lengths)).encodings);
  };
  EXPECT_EQ(columns("60:500"), std::vector<std::string>{"rope"});
  EXPECT_EQ(columns("44:500"), (std::vector<std::string>{"rope(evaluation.lengths=44,60,70,80)",
                                                         "rope(evaluation.lengths=60:80:10)"}));
}

// The finished run was measured beyond its config, which the repetition that is still to come shares.
TEST_F(ReadingRulesTest, UnfinishedRunsSplitNoColumn) {
  store_by_length(scratch_.path(), made_up_config("even_pairs", "rope", 0), {41, 42, 43, 44, 60});
  store_run(scratch_.path(), made_up_config("even_pairs", "rope", 1), RunState::kTraining);
  const ResultTable table = make_table(open_runs(scratch_.path()), rules_for("43:500"));
  EXPECT_EQ(texts_of(table.encodings), std::vector<std::string>{"rope"});
  EXPECT_EQ(table.cells.begin()->second.missing.size(), 1U);
}

TEST_F(ReadingRulesTest, ComparisonsByLengthAdjustOverTheTasksAtALength) {
  for (const char* const task : {"even_pairs", "bucket_sort"}) {
    for (std::int64_t seed = 0; seed < 3; ++seed) {
      store_by_length(scratch_.path(), made_up_config(task, "rope", seed), {41, 42, 43, 44});
      store_run(scratch_.path(), made_up_config(task, "none", seed), RunState::kFinished, 0.25);
    }
  }
  const Comparison comparison = compare(make_table(open_runs(scratch_.path()), rules_for("42,44")), "rope",
                                        "none", Aggregate::kMean, ComparisonRows::kLengths);
  ASSERT_EQ(comparison.tasks.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const ComparedTask& row = comparison.tasks[i];
    EXPECT_EQ(row.task.name, i < 2 ? "even_pairs" : "bucket_sort");
    EXPECT_EQ(row.length, i % 2 == 0 ? 42 : 44);
    EXPECT_DOUBLE_EQ(row.difference.value(), (i % 2 == 0 ? 0.42 : 0.44) - 0.25);
    EXPECT_DOUBLE_EQ(row.p.value(), 0.25);
    EXPECT_DOUBLE_EQ(row.adjusted_p.value(), 0.5) << "of two tasks, not of four rows";
    EXPECT_NEAR(row.detectable.value(), 0, 1e-12) << "equal differences have no spread";
  }
}

// A task on which a side has not finished has a row a length, too.
TEST_F(ReadingRulesTest, ComparisonsByLengthNeedNoFinishedRunOfEachSide) {
  store_by_length(scratch_.path(), made_up_config("even_pairs", "rope"), {41, 42, 43, 44});
  store_by_length(scratch_.path(), made_up_config("even_pairs", "none"), {41, 42, 43, 44});
  store_run(scratch_.path(), made_up_config("bucket_sort", "rope"), RunState::kWaiting);
  store_by_length(scratch_.path(), made_up_config("bucket_sort", "none"), {41, 42, 43, 44});
  const ResultTable table = make_table(open_runs(scratch_.path()));
  const Comparison comparison = compare(table, "rope", "none", Aggregate::kMean, ComparisonRows::kLengths);
  ASSERT_EQ(comparison.tasks.size(), 8U);
  for (const ComparedTask& row : comparison.tasks) EXPECT_TRUE(row.length.has_value());
}

}  // namespace
}  // namespace che
