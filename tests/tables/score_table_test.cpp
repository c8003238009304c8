#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "experiments/published/quoted_scores.h"
#include "experiments/results/read_results.h"
#include "models/architectures/foreign.h"
#include "tables/result_tables.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/golden_file.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using ScoreTable = ScratchTest;

TEST_F(ScoreTable, IsGoldenInEveryFormat) {
  ResultTable results = made_up_experiment(scratch_.path());
  expect_golden("tables/scores.md", format_table(score_table(results, {.paper = PaperValues::kAll}), "md"));
  expect_golden("tables/scores.csv", format_table(score_table(results), "csv"));
  add_trivial_baselines(results);
  const Table everything = score_table(
      results,
      {.aggregate = Aggregate::kMean, .paper = PaperValues::kAll, .difference = true, .spread = true});
  for (const std::string format : {"json", "tex"}) {
    expect_golden("tables/scores." + format, format_table(everything, format));
  }
  const Table table = score_table(results, {.aggregate = Aggregate::kIqm, .difference = true});
  expect_golden("tables/scores.txt", format_table(table, "terminal", {.width = 100, .escapes = false}));
}

TEST_F(ScoreTable, SaysWhenThePaperHasNothing) {
  store_run(scratch_.path(), made_up_config("reverse_string", "none"), RunState::kFinished, 0.5);
  const std::string text =
      format_table(score_table(make_table(open_runs(scratch_.path())), {.paper = PaperValues::kAll}), "md");
  expect_contains(text, {"The paper's table has no value for any of these"});
  EXPECT_FALSE(contains(text, "arXiv")) << text;
}

RunConfig machine(const std::string& kind) {
  RunConfig config;
  config.task.reset("reverse_string");
  config.model.kind = kind;
  config.evaluation.last_length = 44;
  return config;
}

// The folder that quotes has no runs.
TEST_F(ScoreTable, HasColumnsOfQuotedScoresThatAreNotMarked) {
  store_run(scratch_.path(), machine("stack_rnn"), RunState::kFinished, 0.875);
  store_run(scratch_.path(), machine("lstm"), RunState::kFinished, 0.5);
  const ResultTable results =
      read_table({scratch_.path(), std::filesystem::path(CHE_SOURCE_DIR) / "data" / "machines"});
  const PrintedTable printed = score_table(results, {.quoted = true}).printed;
  const auto cell = [&](const std::string& title) {
    const auto column = std::ranges::find(printed.columns, title, &PrintedColumn::title);
    EXPECT_NE(column, printed.columns.end()) << title;
    return printed.rows.at(0).cells.at(static_cast<std::size_t>(column - printed.columns.begin()));
  };
  EXPECT_EQ("100.0", cell("stack_rnn (quoted)").text);
  EXPECT_EQ(Mark::kNone, cell("stack_rnn (quoted)").mark);
  EXPECT_EQ(Mark::kBest, cell("stack_rnn").mark);
  EXPECT_EQ("60.9", cell("lstm (quoted)").text);
  expect_contains(printed.notes.at(1).text, {"not measured here", "arXiv 2207.02098 Table 2"});
  expect_contains(printed.notes.back().text,
                  {"left out where no run that is shown is on their task: cycle_navigation, "});
  EXPECT_EQ(4U, score_table(results).printed.columns.size()) << "task, chance, lstm, stack_rnn";
}

TEST_F(ScoreTable, SaysThatItIsNotKnownWhetherARunTrained) {
  store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5)
      .write_metrics({});
  const Table table = score_table(make_table(open_runs(scratch_.path())));
  expect_contains(format_table(table, "md"),
                  {"Whether 1 run trained is not known, because the training metrics are missing."});
  const auto column = std::ranges::find(table.data.columns, "trained_runs") - table.data.columns.begin();
  EXPECT_EQ(TableValue(), table.data.rows.at(0).at(static_cast<std::size_t>(column)));
}

TEST_F(ScoreTable, NamesTheSourcesOfShownScoresAlone) {
  store_run(scratch_.path(), machine("lstm"), RunState::kFinished, 0.5);
  write_file_atomically(
      scratch_.path() / "quoted.csv",
      "task,model,score,source\nreverse_string,lstm,0.75,paper A\neven_pairs,lstm,0.5,paper B\n");
  const PrintedTable printed = score_table(read_table({scratch_.path()}), {.quoted = true}).printed;
  expect_contains(printed.notes.at(1).text, {"Sources: paper A."});
}

// One model of two papers is two columns, and a model that no row has is none.
TEST_F(ScoreTable, KeepsWhatTwoFoldersQuoteApart) {
  RunConfig config = machine("lstm");
  config.task.reset("modular_arithmetic_simple");
  store_run(scratch_.path(), config, RunState::kFinished, 0.5);
  const std::filesystem::path data = std::filesystem::path(CHE_SOURCE_DIR) / "data";
  const PrintedTable printed =
      score_table(read_table({scratch_.path(), data / "regular-4", data / "machines"}), {.quoted = true})
          .printed;
  std::map<std::string, std::string> scores;
  for (std::size_t i = 0; i < printed.columns.size(); ++i) {
    scores[printed.columns[i].title] = printed.rows.at(0).cells.at(i).text;
  }
  EXPECT_EQ("99.9", scores["lstm (quoted in regular-4)"]);
  EXPECT_EQ("100.0", scores["lstm (quoted in machines)"]);
  EXPECT_FALSE(scores.contains("lstm (quoted)"));
  EXPECT_FALSE(scores.contains("stack_rnn (quoted)"));
  const std::filesystem::path other = scratch_.path() / "machines";
  std::filesystem::create_directory(other);
  std::filesystem::copy(data / "machines" / kQuotedFile, other);
  expect_contains(message_of([&] {
                    read_table({scratch_.path(), data / "machines", other});
                  }),
                  {"two folders that quote scores are called machines; rename one of them"});
}

// A recurrent network has no layers, so none by default.
TEST_F(ScoreTable, NamesDefaultsOfColumnsThatHaveThem) {
  const auto text = [&] { return format_table(score_table(make_table(open_runs(scratch_.path()))), "md"); };
  RunConfig encoder = made_up_config("reverse_string", "none");
  encoder.model.shape().layers = 3;
  store_run(scratch_.path(), encoder, RunState::kFinished, 0.5);
  store_run(scratch_.path(), machine("lstm"), RunState::kFinished, 0.5);
  EXPECT_FALSE(contains(text(), "model.layers=5")) << text();
  expect_contains(text(), {"training.steps=200000"});
}

TEST_F(ScoreTable, SaysWhereBaselinesHaveNoOneNumber) {
  store_two_evaluations(scratch_.path());
  ResultTable results = make_table(open_runs(scratch_.path()));
  add_trivial_baselines(results);
  const std::string text = format_table(score_table(results), "md");
  expect_contains(text, {"constant", "No baselines of bucket_sort"});
}

TEST_F(ScoreTable, AggregateChoosesScoreAndSpread) {
  const ResultTable results = made_up_experiment(scratch_.path());
  const auto rope = [&](Aggregate aggregate) {
    const PrintedTable printed = score_table(results, {.aggregate = aggregate, .spread = true}).printed;
    // task, chance, none, rope
    return printed.rows[1].cells[3].text + printed.rows[1].cells[3].suffix;
  };
  EXPECT_EQ(rope(Aggregate::kMax), "75.0 [50.0 .. 75.0]");
  EXPECT_EQ(rope(Aggregate::kMean), "62.5 \u00b112.5");
  EXPECT_EQ(rope(Aggregate::kMedian), "62.5 [56.2 .. 68.8]") << "quartiles 0.5625 and 0.6875";
}

TEST_F(ScoreTable, CountsRunsThatAreNotBegunWithoutAFootnote) {
  store_run(scratch_.path(), made_up_config("even_pairs", "rope", 0), RunState::kFinished, 0.5);
  store_run(scratch_.path(), made_up_config("even_pairs", "rope", 1), RunState::kWaiting);
  store_run(scratch_.path(), made_up_config("even_pairs", "none"), RunState::kWaiting);
  const PrintedTable printed = score_table(make_table(open_runs(scratch_.path()))).printed;
  EXPECT_TRUE(printed.footnotes.empty());
  EXPECT_EQ(1, std::ranges::count(printed.notes, Note{NoteKind::kReading, "Not begun: 2 of 3 runs."}));
}

TEST_F(ScoreTable, SaysWhyNoBestIsMarked) {
  const auto text = [](double rope, double alibi) {
    const ScratchFolder scratch;
    store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, rope);
    store_run(scratch.path(), made_up_config("even_pairs", "alibi"), RunState::kFinished, alibi);
    return format_table(score_table(make_table(open_runs(scratch.path()))), "md");
  };
  EXPECT_FALSE(contains(text(0.75, 0.5), "No best is marked"));
  expect_contains(text(0.75, 0.75), {"No best is marked where most encodings tie."});
  expect_contains(text(0.5, 0.25), {"No best is marked where no score is above chance."});
  expect_contains(text(0.5, 0.5), {"where most encodings tie, or where no score is above chance."});
  EXPECT_FALSE(contains(text(0.875, 0.75), "No second is marked"));
  expect_contains(text(0.75, 0.25), {"No second is marked where the second score is not above chance."});
}

TEST_F(ScoreTable, MarksNoSecondBelowABaseline) {
  for (const auto& [encoding, score] : {std::pair("rope", 0.875), {"alibi", 0.75}, {"kerple", 0.625}}) {
    store_run(scratch_.path(), made_up_config("even_pairs", encoding), RunState::kFinished, score);
  }
  ResultTable results = make_table(open_runs(scratch_.path()));
  const auto text = [&] { return format_table(score_table(results), "terminal"); };
  expect_contains(text(), {"75.0+"});
  results.rows[0].baselines = baselines({0.8, 0.01}, {0.5});
  expect_contains(text(), {"87.5*"});
  EXPECT_FALSE(contains(text(), "75.0+")) << text();
  expect_contains(text(), {"No second is marked where the second score is below or within two standard"});
}

TEST_F(ScoreTable, SaysWhereMaximaAreOfUnequalNumbersOfRuns) {
  const auto store = [&](const char* task, const char* encoding, int seed) {
    store_run(scratch_.path(), made_up_config(task, encoding, seed), RunState::kFinished, 0.75);
  };
  const auto text = [&](Aggregate aggregate) {
    return format_table(score_table(make_table(open_runs(scratch_.path())), {.aggregate = aggregate}), "md");
  };
  for (const char* const task : {"even_pairs", "reverse_string", "odds_first"}) {
    store(task, "rope", 0);
    store(task, "alibi", 0);
  }
  EXPECT_FALSE(contains(text(Aggregate::kMax), "unequal numbers of runs"));
  store("even_pairs", "rope", 1);
  expect_contains(text(Aggregate::kMax), {"Cells of a row have unequal numbers of runs (even_pairs), and"});
  store("even_pairs", "alibi", 1);
  expect_contains(text(Aggregate::kMax),
                  {"Rows have unequal numbers of runs (n = 2 for even_pairs, 1 for the others), and"});
  EXPECT_FALSE(contains(text(Aggregate::kMean), "unequal numbers of runs"));
}

TEST_F(ScoreTable, SaysWhereScoredLengthsAreWithinTraining) {
  store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  ResultTable results = make_table(open_runs(scratch_.path()));
  const auto says = [&] {
    return contains(format_table(score_table(results), "md"),
                    "Not all test lengths of 1 run exceed the training lengths");
  };
  EXPECT_FALSE(says());
  results.runs[0].config.evaluation.first_length = 30;
  EXPECT_FALSE(says()) << "the score leaves them out";
  results.runs[0].scored_lengths.insert(results.runs[0].scored_lengths.begin(), 30);
  EXPECT_TRUE(says());
}

TEST_F(ScoreTable, NamesNoDefaultOfTrainingForAModelOutsideChe) {
  RunConfig longer = made_up_config("reverse_string", "rope");
  longer.training.steps *= 2;
  RunConfig foreign = made_up_config("reverse_string", "rope");
  foreign.model = foreign_model("lstm");
  for (const RunConfig& config : {made_up_config("reverse_string", "alibi"), longer, foreign}) {
    store_run(scratch_.path(), config, RunState::kFinished, 0.5);
  }
  const ResultTable results = make_table(open_runs(scratch_.path()));
  const std::string text = format_table(score_table(results), "md");
  expect_contains(text, {"training.steps"});
  EXPECT_FALSE(contains(text, "has its default")) << text;
}

}  // namespace
}  // namespace che
