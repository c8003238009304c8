#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/architectures/foreign.h"
#include "tables/result_tables.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/golden_file.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

const ScoreTableOptions kEverything{
    .aggregate = Aggregate::kMean, .paper = PaperValues::kAll, .difference = true, .spread = true};

TEST(ScoreTable, MarkdownIsGolden) {
  const ScratchFolder scratch;
  const Table table = score_table(made_up_experiment(scratch.path()), {.paper = PaperValues::kAll});
  expect_golden("tables/scores.md", format_table(table, "md"));
}

TEST(ScoreTable, SaysWhenThePaperHasNothing) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "none"), RunState::kFinished, 0.5);
  const std::string text =
      format_table(score_table(make_table(open_runs(scratch.path())), {.paper = PaperValues::kAll}), "md");
  EXPECT_NE(text.find("The paper's table has no value for any of these"), std::string::npos) << text;
  EXPECT_EQ(text.find("arXiv"), std::string::npos) << text;
}

TEST(ScoreTable, CsvIsGolden) {
  const ScratchFolder scratch;
  expect_golden("tables/scores.csv", format_table(score_table(made_up_experiment(scratch.path())), "csv"));
}

TEST(ScoreTable, JsonIsGolden) {
  const ScratchFolder scratch;
  ResultTable results = made_up_experiment(scratch.path());
  add_trivial_baselines(results);
  expect_golden("tables/scores.json", format_table(score_table(results, kEverything), "json"));
}

TEST(ScoreTable, LatexIsGolden) {
  const ScratchFolder scratch;
  ResultTable results = made_up_experiment(scratch.path());
  add_trivial_baselines(results);
  expect_golden("tables/scores.tex", format_table(score_table(results, kEverything), "tex"));
}

TEST(ScoreTable, TerminalIsGolden) {
  const ScratchFolder scratch;
  ResultTable results = made_up_experiment(scratch.path());
  add_trivial_baselines(results);
  const Table table = score_table(results, {.aggregate = Aggregate::kIqm, .difference = true});
  expect_golden("tables/scores.txt", format_table(table, "terminal", {.width = 100, .escapes = false}));
}

TEST(ScoreTable, CsvHasOneRowPerCellAndIsNotRounded) {
  const ScratchFolder scratch;
  const ResultTable results = made_up_experiment(scratch.path());
  const DataTable data = score_table(results).data;
  EXPECT_EQ(data.rows.size(), results.cells.size());
  for (const auto& row : data.rows) {
    ASSERT_EQ(row.size(), data.columns.size());
    if (row[1] == TableValue("even_pairs") && row[2] == TableValue("rope")) {
      EXPECT_EQ(row[7], TableValue(1.0 / 3));
    }
  }
}

TEST(ScoreTable, SaysWhereBaselinesHaveNoOneNumber) {
  const ScratchFolder scratch;
  store_two_evaluations(scratch.path());
  ResultTable results = make_table(open_runs(scratch.path()));
  add_trivial_baselines(results);
  const std::string text = format_table(score_table(results), "md");
  EXPECT_NE(text.find("constant"), std::string::npos) << text;
  EXPECT_NE(text.find("No baselines of bucket_sort"), std::string::npos) << text;
}

TEST(ScoreTable, AggregateChoosesScoreAndSpread) {
  const ScratchFolder scratch;
  const ResultTable results = made_up_experiment(scratch.path());
  const auto rope = [&](Aggregate aggregate) {
    const PrintedTable printed = score_table(results, {.aggregate = aggregate, .spread = true}).printed;
    // task, chance, none, rope
    return printed.rows[1].cells[3].text + printed.rows[1].cells[3].suffix;
  };
  EXPECT_EQ(rope(Aggregate::kMax), "75.0 [50.0 .. 75.0]");
  EXPECT_EQ(rope(Aggregate::kMean), "62.5 \u00b112.5");
  EXPECT_EQ(rope(Aggregate::kMedian), "62.5 [56.2 .. 68.8]") << "quartiles 0.5625 and 0.6875";
}

TEST(ScoreTable, CountsRunsThatAreNotBegunWithoutAFootnote) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("even_pairs", "rope", 0), RunState::kFinished, 0.5);
  store_run(scratch.path(), made_up_config("even_pairs", "rope", 1), RunState::kWaiting);
  store_run(scratch.path(), made_up_config("even_pairs", "none"), RunState::kWaiting);
  const PrintedTable printed = score_table(make_table(open_runs(scratch.path()))).printed;
  EXPECT_TRUE(printed.footnotes.empty());
  EXPECT_EQ(1, std::ranges::count(printed.notes, Note{NoteKind::kReading, "Not begun: 2 of 3 runs."}));
}

TEST(ScoreTable, SaysWhyNoBestIsMarked) {
  const auto text = [](double rope, double alibi) {
    const ScratchFolder scratch;
    store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, rope);
    store_run(scratch.path(), made_up_config("even_pairs", "alibi"), RunState::kFinished, alibi);
    return format_table(score_table(make_table(open_runs(scratch.path()))), "md");
  };
  EXPECT_FALSE(contains(text(0.75, 0.5), "No best is marked"));
  EXPECT_TRUE(contains(text(0.75, 0.75), "No best is marked where most encodings tie."));
  EXPECT_TRUE(contains(text(0.5, 0.25), "No best is marked where no score is above chance."));
  EXPECT_TRUE(contains(text(0.5, 0.5), "where most encodings tie, or where no score is above chance."));
  EXPECT_FALSE(contains(text(0.875, 0.75), "No second is marked"));
  EXPECT_TRUE(contains(text(0.75, 0.25), "No second is marked where the second score is not above chance."));
}

TEST(ScoreTable, MarksNoSecondBelowABaseline) {
  const ScratchFolder scratch;
  for (const auto& [encoding, score] : {std::pair("rope", 0.875), {"alibi", 0.75}, {"kerple", 0.625}}) {
    store_run(scratch.path(), made_up_config("even_pairs", encoding), RunState::kFinished, score);
  }
  ResultTable results = make_table(open_runs(scratch.path()));
  const auto text = [&] { return format_table(score_table(results), "terminal"); };
  EXPECT_TRUE(contains(text(), "75.0+")) << text();
  results.rows[0].baselines =
      TrivialBaselines{.constant = {0.8, 0.01}, .position_only = {0.5}, .frequent_symbol = {}, .lengths = {}};
  EXPECT_TRUE(contains(text(), "87.5*")) << text();
  EXPECT_FALSE(contains(text(), "75.0+")) << text();
  EXPECT_TRUE(contains(text(), "No second is marked where the second score is below or within two standard"))
      << text();
}

TEST(ScoreTable, SaysWhereMaximaAreOfUnequalNumbersOfRuns) {
  const ScratchFolder scratch;
  const auto store = [&](const char* task, const char* encoding, int seed) {
    store_run(scratch.path(), made_up_config(task, encoding, seed), RunState::kFinished, 0.75);
  };
  const auto text = [&](Aggregate aggregate) {
    return format_table(score_table(make_table(open_runs(scratch.path())), {.aggregate = aggregate}), "md");
  };
  for (const char* const task : {"even_pairs", "reverse_string", "odds_first"}) {
    store(task, "rope", 0);
    store(task, "alibi", 0);
  }
  EXPECT_FALSE(contains(text(Aggregate::kMax), "unequal numbers of runs"));
  store("even_pairs", "rope", 1);
  EXPECT_TRUE(
      contains(text(Aggregate::kMax), "Cells of a row have unequal numbers of runs (even_pairs), and"));
  store("even_pairs", "alibi", 1);
  EXPECT_TRUE(contains(text(Aggregate::kMax),
                       "Rows have unequal numbers of runs (n = 2 for even_pairs, 1 for the others), and"));
  EXPECT_FALSE(contains(text(Aggregate::kMean), "unequal numbers of runs"));
}

TEST(ScoreTable, NamesNoDefaultOfTrainingForAModelOutsideChe) {
  const ScratchFolder scratch;
  RunConfig longer = made_up_config("reverse_string", "rope");
  longer.training.steps *= 2;
  RunConfig foreign = made_up_config("reverse_string", "rope");
  foreign.model = foreign_model("lstm");
  for (const RunConfig& config : {made_up_config("reverse_string", "alibi"), longer, foreign}) {
    store_run(scratch.path(), config, RunState::kFinished, 0.5);
  }
  const ResultTable results = make_table(open_runs(scratch.path()));
  const std::string text = format_table(score_table(results), "md");
  EXPECT_NE(text.find("training.steps"), std::string::npos) << text;
  EXPECT_EQ(text.find("has its default"), std::string::npos) << text;
}

}  // namespace
}  // namespace che
