// Tests every table of results but that of scores.
#include "tables/result_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

#include "experiments/results/training_outcome.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/golden_file.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

std::size_t column(const Table& table, const std::string& name) {
  const auto& columns = table.data.columns;
  return static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin());
}

TEST(RunTable, IsGoldenForPeopleAndPrograms) {
  const ScratchFolder scratch;
  const Table table = run_table(made_up_experiment(scratch.path()));
  expect_golden("tables/runs.md", format_table(table, "md"));
  expect_golden("tables/runs.csv", format_table(table, "csv"));
}

TEST(RunTable, ShowsNoTimeWhereThatOfTheTrainingIsLost) {
  const ScratchFolder scratch;
  const RunFolder run =
      store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  RunStatus status = run.status();
  status.training_seconds = 0;  // Lengths that were measured since have theirs.
  run.write_status(status);
  const Table table = run_table(make_table(open_runs(scratch.path())));
  EXPECT_EQ(table.printed.rows.front().cells[6].text, kNoNumber);
  const auto& row = table.data.rows.front();
  EXPECT_EQ(row[column(table, "training_seconds")], TableValue());
  EXPECT_EQ(row[column(table, "evaluation_seconds")], TableValue());
}

TEST(LengthTable, CsvIsGolden) {
  const ScratchFolder scratch;
  expect_golden("tables/lengths.csv", format_table(length_table(made_up_experiment(scratch.path())), "csv"));
}

TEST(LengthTable, HasAColumnForEverySettingThatVariesAndNoNameTwice) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("even_pairs", "rope");
  store_run(scratch.path(), config, RunState::kFinished, 0.5);
  config.model.shape().layers = 3;
  config.evaluation.seed = 5;
  config.execution.threads = 2;  // Changes no result.
  store_run(scratch.path(), config, RunState::kFinished, 0.75);
  config.encoding.reset("dape_kerple");
  store_run(scratch.path(), config, RunState::kFinished, 0.75);
  const Table table = length_table(make_table(open_runs(scratch.path())));
  const std::vector<std::string>& columns = table.data.columns;
  EXPECT_EQ(std::set<std::string>(columns.begin(), columns.end()).size(), columns.size());
  for (const char* name : {"model.layers", "encoding.name", "encoding.dape", "encoding.dape.hidden",
                           "evaluation.seed", "seed", "length"}) {
    EXPECT_EQ(std::ranges::count(columns, name), 1) << name;
  }
  for (const char* name : {"execution.threads", "model.width", "task.name"}) {
    EXPECT_EQ(std::ranges::count(columns, name), 0) << name;
  }
  ASSERT_EQ(table.data.rows.size(), 12U) << "four lengths each";
  const auto& first = table.data.rows.front();
  EXPECT_EQ(first.size(), columns.size());
  EXPECT_EQ(first[column(table, "encoding.dape.hidden")], TableValue()) << "rope has none";
  EXPECT_EQ(first[column(table, "accuracy")], TableValue(0.5));
}

TEST(LengthTable, ShowsFurtherLengthsThatNoScoreCounts) {
  const ScratchFolder scratch;
  const RunFolder run =
      store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  std::vector<EvaluationRow> rows = run.evaluation();
  store_row(rows, {.length = 100, .samples = 128, .seed = 0, .accuracy = 0.25, .loss = 1});
  run.write_evaluation(rows);
  const Table table = length_table(make_table(open_runs(scratch.path())));
  ASSERT_EQ(table.data.rows.size(), 5U);
  EXPECT_EQ(table.data.rows.back()[column(table, "length")], TableValue(std::int64_t{100}));
  EXPECT_EQ(table.data.rows.back()[column(table, "in_score")], TableValue("no"));
  EXPECT_EQ(table.data.rows.front()[column(table, "in_score")], TableValue("yes"));
  EXPECT_EQ(table.printed.rows.back().cells.back().text, "25.0");
}

TEST(LengthTable, HasTheChanceOfTheLength) {
  const ScratchFolder scratch;
  RunConfig config = made_up_declared_config("");
  config.evaluation.first_length = 2;
  config.evaluation.last_length = 3;
  store_run(scratch.path(), config, RunState::kFinished, 0.5);
  const Table table = length_table(make_table(open_runs(scratch.path())));
  ASSERT_EQ(table.data.rows.size(), 2U);
  EXPECT_EQ(table.data.rows[0][column(table, "chance")], TableValue(3.0 / 4));
  EXPECT_EQ(table.data.rows[1][column(table, "chance")], TableValue(5.0 / 8));
}

TEST(StepTable, HasTheMeanOfTheRunsThatWereMeasuredAtAStep) {
  const ScratchFolder scratch;
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    const RunConfig config = made_up_config("even_pairs", "rope", seed);
    const double score = seed == 0 ? 0.5 : 1;
    const RunFolder run = store_run(scratch.path(), config, RunState::kFinished, score);
    std::vector<EvaluationRow> rows = run.evaluation();
    for (EvaluationRow& row : rows) row.accuracy = score / 2;
    StepRows steps = {{100, rows}};
    if (seed == 0) steps[200] = rows;
    if (seed == 1) steps[200] = {rows.front()};  // Lengths are missing.
    run.write_at_steps(steps);
  }
  // This run still trains.
  const RunFolder training =
      store_run(scratch.path(), made_up_config("even_pairs", "alibi"), RunState::kTraining);
  training.write_at_steps(open_runs(scratch.path()).back().at_steps());
  const Table table = step_table(make_table(open_runs(scratch.path())));
  const std::string csv = format_table(table, "csv");
  EXPECT_EQ(csv,
            "level,task,encoding,step,n,score\n"
            "regular,even_pairs,rope,100,2,0.375\n"
            "regular,even_pairs,rope,200,1,0.25\n"
            "regular,even_pairs,rope,1000,2,0.75\n"
            "regular,even_pairs,alibi,100,1,0.5\n");
  // Scores at all steps count the same lengths.
  const RunFolder first = open_runs(scratch.path())[1];
  StepRows of_first = first.at_steps();
  of_first[100].back().accuracy = 1;
  first.write_at_steps(of_first);
  const std::string last = std::to_string(of_first[100].back().length);
  const std::string chosen =
      format_table(step_table(make_table(open_runs(scratch.path()),
                                         {.score_lengths = LengthChoice(last), .select = std::nullopt})),
                   "csv");
  expect_contains(chosen, {"regular,even_pairs,rope,100,2,0.75\n"});
  EXPECT_EQ(table.printed.rows.size(), table.data.rows.size());
  expect_contains(format_table(table, "md"), {"37.5"});
}

TEST(ComparisonTable, IsGoldenForPeopleAndPrograms) {
  const ScratchFolder scratch;
  const ResultTable results = made_up_experiment(scratch.path());
  const Table table = comparison_table(compare(results, "dape_kerple", "rope", Aggregate::kMean), results);
  expect_golden("tables/comparison.md", format_table(table, "md"));
  expect_golden("tables/comparison.csv", format_table(table, "csv"));
}

TEST(ComparisonTable, MarksWhereNoComparedRunTrained) {
  const ScratchFolder scratch;
  const ResultTable results = made_up_experiment(scratch.path());
  Comparison comparison = compare(results, "dape_kerple", "rope", Aggregate::kMean);
  for (ComparedTask& task : comparison.tasks) {
    task.one_runs.untrained = task.one_runs.counted;
    task.other_runs.untrained = 0;
  }
  const Table table = comparison_table(comparison, results);
  ASSERT_FALSE(table.printed.rows.empty());
  for (const PrintedRow& row : table.printed.rows) {
    EXPECT_EQ(row.cells[2].sign, kUntrainedSign);
    EXPECT_EQ(row.cells[3].sign, "");
  }
  expect_contains(format_table(table, "md"), {"no run that is compared reached"});
}

TEST(ComparisonTable, NamesNoLowerPThanRandomSplitsGive) {
  const ScratchFolder scratch;
  const ResultTable results = made_up_experiment(scratch.path());
  Comparison comparison = compare(results, "dape_kerple", "rope", Aggregate::kMean);
  comparison.paired = false;
  for (ComparedTask& task : comparison.tasks) {
    task.paired = false;
    task.seeds = task.other_seeds = 15;
    task.p = 0.5;
  }
  expect_contains(format_table(comparison_table(comparison, results), "md"),
                  {"With 15 and 15 seeds p is 1e-05 at least", "that its column finished with every seed"});
}

TEST(ComparisonTable, SaysWhyRepetitionsThatShareSeedsHaveNoTest) {
  const ScratchFolder scratch;
  for (std::int64_t i = 0; i < 9; ++i) {
    for (const char* const encoding : {"rope", "none"}) {
      RunConfig config = made_up_config("even_pairs", encoding, i % 3);
      config.data_seed = i / 3;
      store_run(scratch.path(), config, RunState::kFinished, 0.5);
    }
  }
  const ResultTable results = make_table(open_runs(scratch.path()));
  const Comparison comparison = compare(results, "rope", "none", Aggregate::kMean);
  const std::string text = format_table(comparison_table(comparison, results), "md");
  expect_contains(text, {"no test and no interval where only some repetitions share a seed or a data_seed"});
  for (const char* const other : {"A test needs", "Below 6 seeds", "p is "})
    EXPECT_FALSE(contains(text, other));
}

// A median of six stays where it is when the sign of one of the two lowest differences flips.
TEST(ComparisonTable, NamesTheLeastPOfTheAggregate) {
  const ScratchFolder scratch;
  for (std::int64_t seed = 0; seed < 6; ++seed) {
    const double score = 0.6 + 0.05 * static_cast<double>(seed);
    store_run(scratch.path(), made_up_config("even_pairs", "rope", seed), RunState::kFinished, score);
    store_run(scratch.path(), made_up_config("even_pairs", "none", seed), RunState::kFinished, 0.5);
  }
  const ResultTable results = make_table(open_runs(scratch.path()));
  const auto expect_least = [&](Aggregate aggregate, double p, const std::string& note) {
    const Comparison comparison = compare(results, "rope", "none", aggregate);
    EXPECT_DOUBLE_EQ(comparison.tasks.front().p.value(), p);
    expect_contains(format_table(comparison_table(comparison, results), "md"), {note});
  };
  expect_least(Aggregate::kMean, 0.03125, "With 6 seeds p is 0.031 at least");
  expect_least(Aggregate::kMedian, 0.125, "With 6 seeds p is 0.12 at least");
}

// By means ten pairs could have the least p, by medians 3 against 10 seeds.
TEST(ComparisonTable, NamesTheLeastPOfAllRows) {
  const ScratchFolder scratch;
  const ResultTable results = made_up_experiment(scratch.path());
  ComparedWithAll all = {.comparisons = {compare(results, "dape_kerple", "rope", Aggregate::kMedian)},
                         .left_out = {}};
  all.comparisons.push_back(all.comparisons.front());
  for (std::size_t i = 0; i < 2; ++i) {
    all.comparisons[i].paired = i == 0;
    for (ComparedTask& task : all.comparisons[i].tasks) {
      task.paired = i == 0;
      task.p = 0.5;
      task.seeds = i == 0 ? 10 : 3;
      task.other_seeds = 10;
    }
  }
  expect_contains(format_table(comparison_table(all, results), "md"),
                  {"With 3 and 10 seeds p is 0.017 at least",
                   "that of the seeds' differences, or of the columns where seeds are not paired",
                   "Left out against rope: finished runs"});
}

TEST(NoNumbersNote, NamesCellsWhoseLogitsWereNoNumbers) {
  const ScratchFolder scratch;
  const RunFolder run =
      store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 1);
  const auto printed = [&] {
    const ResultTable table = make_table(open_runs(scratch.path()));
    return format_table(score_table(table), "md") + format_table(run_table(table), "md");
  };
  EXPECT_FALSE(contains(printed(), "no numbers"));
  std::vector<EvaluationRow> rows = run.evaluation();
  rows.back().loss = std::numeric_limits<double>::quiet_NaN();
  run.write_evaluation(rows);
  const std::string note = "the score says nothing: rope on even_pairs (1 run).";
  const std::string text = printed();
  EXPECT_NE(text.find(note), text.rfind(note)) << "in both tables";
}

TEST(AgreementTable, IsGoldenForPeopleAndPrograms) {
  const ScratchFolder scratch;
  made_up_experiment(scratch.path());
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    const double more = seed == 0 ? 0 : 0.25;
    store_run(scratch.path(), made_up_config("reverse_string", "randomized_alibi", seed), RunState::kFinished,
              0.75);
    store_run(scratch.path(), made_up_config("reverse_string", "randomized_kerple", seed),
              RunState::kFinished, 0.5 + more);
    store_run(scratch.path(), made_up_config("reverse_string", "randomized_rope", seed), RunState::kFinished,
              0.25);
    store_run(scratch.path(), made_up_config("reverse_string", "randomized_dape_kerple", seed),
              RunState::kFinished, 0.625 + more);
  }
  ResultTable results = make_table(open_runs(scratch.path()));
  results.name = "made_up";
  add_trivial_baselines(results);
  const Table table = agreement_table(agree(results, Aggregate::kMax), results);
  expect_golden("tables/agreement.md", format_table(table, "md"));
  expect_golden("tables/agreement.csv", format_table(table, "csv"));
}

TEST(AgreementTable, SaysWhenAllTie) {
  const ScratchFolder scratch;
  for (const char* encoding : {"rope", "alibi"}) {
    store_run(scratch.path(), made_up_config("reverse_string", encoding), RunState::kFinished, 0.5);
  }
  ResultTable results = make_table(open_runs(scratch.path()));
  for (auto& [key, cell] : results.cells) cell.best_trained = false;
  const Table table = agreement_table(agree(results, Aggregate::kMax), results);
  EXPECT_EQ(table.printed.rows[0].cells[8].text, "all 2 tie");
  EXPECT_EQ(format_table(table, "md").find(kUntrainedSign), std::string::npos) << "a note of no cell";
  EXPECT_EQ(std::get<std::string>(table.data.rows[0][11]), "rope; alibi");
  EXPECT_EQ(table.printed.rows[0].cells[9].text, "--") << "nothing is known of what predictors score";
}

TEST(AgreementTable, NamesTasksThatTheJointTestLacks) {
  const ScratchFolder scratch;
  const auto store = [&](const std::string& task, std::int64_t place, const char* encoding) {
    store_run(scratch.path(), made_up_config(task, encoding), RunState::kFinished,
              0.5 + static_cast<double>(place) / 16);
  };
  for (std::int64_t place = 0; const char* encoding : {"randomized_rope", "randomized_alibi",
                                                       "randomized_kerple", "randomized_dape_kerple"}) {
    store("reverse_string", place, encoding);
    store("missing_duplicate", place, encoding);
    store("bucket_sort", 0, encoding);
    ++place;
  }
  store("bucket_sort", 1, "randomized_fire");
  const ResultTable results = make_table(open_runs(scratch.path()));
  const PaperAgreement agreement = agree(results, Aggregate::kMax);
  ASSERT_EQ(agreement.ranked, 3U);
  ASSERT_TRUE(agreement.joint.has_value());
  EXPECT_EQ(agreement.joint->encodings, 4U);
  expect_contains(
      format_table(agreement_table(agreement, results), "md"),
      {"Not in the joint test, because here or in the paper these encodings all tie: bucket_sort."});
}

TEST(AgreementTable, MarksABestThatDidNotTrain) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.75);
  store_run(scratch.path(), made_up_config("reverse_string", "alibi"), RunState::kFinished, 0.5);
  ResultTable results = make_table(open_runs(scratch.path()));
  const auto best = [&] {
    return agreement_table(agree(results, Aggregate::kMax), results).printed.rows[0].cells[8].text;
  };
  EXPECT_EQ(best(), "rope");
  for (auto& [key, cell] : results.cells) cell.best_trained = key.encoding.text() != "rope";
  EXPECT_EQ(best(), std::string("rope") + kUntrainedSign);
}

TEST(AgreementTable, MeasuresTheBestAgainstTheBestBaseline) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.75);
  store_run(scratch.path(), made_up_config("reverse_string", "randomized_alibi"), RunState::kFinished, 0.25);
  ResultTable results = make_table(open_runs(scratch.path()));
  for (const auto& [constant, position] : {std::pair(0.5, 0.625), {0.625, 0.5}}) {
    results.rows[0].baselines = baselines({constant}, {position, 0.0123});
    const Table table = agreement_table(agree(results, Aggregate::kMax), results);
    EXPECT_EQ(table.printed.rows[0].cells[9].text, "+12.5");
    EXPECT_EQ(table.printed.rows[0].cells[10].text, position > constant ? "1.2" : "--");
    EXPECT_EQ(std::get<double>(table.data.rows[0][12]), 0.125);
  }
}

}  // namespace
}  // namespace che
