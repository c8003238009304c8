#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "experiments/exchange/stored_predictions.h"
#include "experiments/results/comparison.h"
#include "experiments/results/provenance.h"
#include "experiments/results/read_results.h"
#include "experiments/results/result_table.h"
#include "experiments/store/experiment_folder.h"
#include "tables/result_tables.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using PredictionRuns = ScratchTest;

// For the samples that runs of made_up_config are measured on.
ScoredPredictions made_up_predictions(const std::string& model, std::int64_t seed, double accuracy,
                                      const std::string& task = "reverse_string") {
  ScoredPredictions scored;
  scored.model = model;
  scored.seed = seed;
  scored.header = {.task = task, .lengths = {41, 42, 43, 44}, .samples = 64, .seed = 0};
  for (const std::int64_t length : scored.header.lengths) {
    scored.rows.push_back({.length = length,
                           .samples = 64,
                           .seed = 0,
                           .accuracy = accuracy,
                           .loss = std::numeric_limits<double>::quiet_NaN()});
  }
  return scored;
}

void store_own_runs(const std::filesystem::path& experiment) {
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    store_run(experiment, made_up_config("reverse_string", "dape_kerple", seed), RunState::kFinished,
              seed == 0 ? 0.75 : 0.625);
  }
}

TEST_F(PredictionRuns, AreReadLikeFinishedRuns) {
  const RunFolder stored = store_predictions(scratch_.path(), made_up_predictions("my_lstm", 3, 0.875));
  EXPECT_TRUE(stored.id().starts_with("reverse_string-my_lstm-seed3-")) << stored.id();

  const RunFolder opened = RunFolder::open(stored.path());
  EXPECT_EQ("my_lstm", opened.config().foreign_name());
  EXPECT_EQ(3, opened.config().seed);
  EXPECT_EQ(RunState::kFinished, opened.status().state);
  EXPECT_EQ("predictions", opened.status().device);
  EXPECT_TRUE(opened.read().damage.empty());
  ASSERT_EQ(4U, opened.evaluation().size());
  EXPECT_DOUBLE_EQ(0.875, opened.evaluation()[0].accuracy);
}

TEST_F(PredictionRuns, OfTheSameModelAndSeedReplaceRows) {
  store_predictions(scratch_.path(), made_up_predictions("my_lstm", 0, 0.5));
  ScoredPredictions longer = made_up_predictions("my_lstm", 0, 0.25);
  longer.header.lengths = {44, 45};
  longer.rows.erase(longer.rows.begin(), longer.rows.begin() + 2);
  longer.rows[0].length = 44;
  longer.rows[1].length = 45;
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& warning) { warnings.push_back(warning); };
  const RunFolder folder = store_predictions(scratch_.path(), longer, warn);
  ASSERT_EQ(2U, warnings.size());
  expect_contains(
      warnings[0],
      {"the score is now of 64 samples at each of the lengths 44..45, drawn by the seed 0",
       "and was of 64 samples at each of the lengths 41..44, drawn by the seed 0; tables count rows"});
  EXPECT_EQ(
      "reverse_string of my_lstm, model_seed 0: replaced the stored accuracy at 1 test length (mean 50.0 %, "
      "now 25.0 %) and removed 3 other rows of these earlier predictions; a repetition needs a model_seed of "
      "its own",
      warnings[1]);
  store_predictions(scratch_.path(), longer, warn);
  EXPECT_EQ(2U, warnings.size()) << "nothing changed";
  const std::vector<EvaluationRow> rows = folder.evaluation();
  ASSERT_EQ(2U, rows.size()) << "those of earlier predictions are of another model";
  EXPECT_DOUBLE_EQ(0.25, rows[0].accuracy);
  EXPECT_EQ(44, RunFolder::open(folder.path()).config().evaluation.first_length);
  // Predictions that agree at the length they share add a row.
  longer.header.lengths = {44, 46};
  longer.rows[1].length = 46;
  store_predictions(scratch_.path(), longer, warn);
  EXPECT_EQ(3U, folder.evaluation().size());
  // No score counts rows of other samples.
  longer.header.samples = 128;
  for (EvaluationRow& row : longer.rows) row.samples = 128;
  store_predictions(scratch_.path(), longer, warn);
  expect_contains(warnings.at(3), {"the score is now of 128 samples", "no table counts those any more"});
}

TEST_F(PredictionRuns, StateTheTrainingOfAllTheirRows) {
  ScoredPredictions scored = made_up_predictions("my_lstm", 0, 0.5);
  scored.stated_training = "steps 1000";
  store_predictions(scratch_.path(), scored);
  scored.rows.resize(1);
  scored.rows[0].length = 50;
  scored.header.lengths = {50};
  std::vector<std::string> warnings;
  const auto stated = [&](const std::string& text) {
    scored.stated_training = text;
    return store_predictions(scratch_.path(), scored,
                             [&](const std::string& warning) { warnings.push_back(warning); })
        .status()
        .stated_training;
  };
  using Statements = std::vector<std::string>;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((Statements{"steps 5", "steps 1000"}), stated("steps 5"));
    EXPECT_EQ((Statements{"steps 1000", "steps 5"}), stated("steps 1000"));
  }
  ASSERT_EQ(2U, warnings.size()) << "of the other lengths, and of the training, once each";
  expect_contains(warnings[1], {"rows that stay are of another training: steps 1000; these are of: steps 5"});
  EXPECT_EQ((Statements{"steps 100", "steps 1000", "steps 5"}), stated("steps 100"));
  EXPECT_EQ(3U, warnings.size()) << "a part of another statement is another one";
  EXPECT_EQ((Statements{"not stated", "steps 100", "steps 1000", "steps 5"}), stated(""));
  expect_contains(format_table(score_table(read_table({scratch_.path()})), "md"),
                  {R"(my_lstm: not stated (other rows, now or before: steps 100 \| steps 1000 \| steps 5))"});
  for (int i = 0; i < 100; ++i) stated(std::to_string(i));
  EXPECT_EQ(100U, stated("last").size()) << "a status is bounded";
  scored.rows[0].accuracy = 0.25;  // Other predictions: the earlier rows go.
  EXPECT_EQ(Statements{"steps 7"}, stated("steps 7"));
  scored.rows[0].accuracy = 0.75;
  EXPECT_EQ(Statements{}, stated(""));
}

TEST_F(PredictionRuns, StandNextToEncodingsInOneTable) {
  const ScratchFolder foreign;
  store_own_runs(scratch_.path());
  store_predictions(foreign.path(), made_up_predictions("my_lstm", 0, 0.875));
  store_predictions(foreign.path(), made_up_predictions("my_lstm", 0, 0.25, "even_pairs"));

  const ResultTable table = read_table({scratch_.path(), foreign.path()});
  EXPECT_EQ((std::vector<std::string>{"dape_kerple", "my_lstm"}), texts_of(table.encodings))
      << "no settings: both were measured on the same samples";
  ASSERT_NE(nullptr, cell_called(table, "reverse_string", "my_lstm"));
  EXPECT_DOUBLE_EQ(0.875, cell_called(table, "reverse_string", "my_lstm")->scores->max);
  EXPECT_DOUBLE_EQ(0.75, cell_called(table, "reverse_string", "dape_kerple")->scores->max);
  EXPECT_FALSE(cell_called(table, "reverse_string", "my_lstm")->paper);
  EXPECT_EQ(table.name, scratch_.path().filename().string() + " + " + foreign.path().filename().string());

  const std::string printed = format_table(score_table(table), "md");
  expect_contains(printed, {" my_lstm |", "87.5", "75.0", "Models outside che: my_lstm;"});
  const std::string runs = format_table(run_table(table), "csv");
  expect_contains(
      runs, {"reverse_string,my_lstm,0,,,,finished,0.875,,,,", "reverse_string,dape_kerple,0,0,0.0003"});
  const std::string lengths = format_table(length_table(table), "csv");
  expect_contains(lengths, {",0,,,41,64,0,no,yes,", ",0.875,\n"});
}

TEST_F(PredictionRuns, MeasuredOnOtherSamplesSaySoInTheirLabel) {
  store_own_runs(scratch_.path());
  ScoredPredictions scored = made_up_predictions("my_lstm", 0, 0.875);
  scored.header.lengths = {41, 42};
  scored.rows.resize(2);
  store_predictions(scratch_.path(), scored);
  EXPECT_EQ((std::vector<std::string>{"dape_kerple(evaluation.last_length=44)",
                                      "my_lstm(evaluation.last_length=42)"}),
            texts_of(read_table({scratch_.path()}).encodings));
}

TEST_F(PredictionRuns, AreComparedWithoutPairs) {
  store_own_runs(scratch_.path());
  RunConfig other_rate = made_up_config("reverse_string", "dape_kerple", 0);
  other_rate.learning_rate = 1e-4;
  store_run(scratch_.path(), other_rate, RunState::kFinished, 0.25);
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    store_predictions(scratch_.path(), made_up_predictions("my_lstm", seed, 0.875));
    store_predictions(scratch_.path(), made_up_predictions("my_gru", seed, 0.5));
  }
  const ResultTable table = read_table({scratch_.path()});
  const ComparedTask task = compare(table, "my_lstm", "dape_kerple", Aggregate::kMean).tasks.at(0);
  EXPECT_FALSE(task.paired);
  EXPECT_EQ(3U, task.seeds);
  EXPECT_EQ(2U, task.other_seeds);
  EXPECT_EQ((std::vector<double>{3e-4}), task.rates) << "the only rate of both seeds";
  EXPECT_EQ(1U, task.unpaired) << "the other rate";
  EXPECT_DOUBLE_EQ(0.875 - 0.6875, *task.difference);
  EXPECT_DOUBLE_EQ(1.0 / 10, *task.p) << "one of the ways to split five into three and two";

  const ComparedTask foreign = compare(table, "my_lstm", "my_gru", Aggregate::kMean).tasks.at(0);
  EXPECT_EQ(3U, foreign.seeds);
  EXPECT_DOUBLE_EQ(2.0 / 20, *foreign.p);
  EXPECT_TRUE(foreign.rates.empty());
  EXPECT_EQ(0U, foreign.unpaired);
  EXPECT_DOUBLE_EQ(0.375, *foreign.difference);
}

TEST_F(PredictionRuns, OfOtherEvaluationSeedsAreNotCompared) {
  store_own_runs(scratch_.path());
  ScoredPredictions scored = made_up_predictions("my_lstm", 0, 0.875);
  scored.header.seed = 5;
  for (EvaluationRow& row : scored.rows) row.seed = 5;
  store_predictions(scratch_.path(), scored);
  const ResultTable table = read_table({scratch_.path()});
  expect_contains(message_of([&] { compare(table, "my_lstm", "dape_kerple", Aggregate::kMean); }),
                  {"are evaluated differently on reverse_string", "evaluation seeds"});
}

TEST_F(PredictionRuns, OneIsComparedWithEveryColumn) {
  store_own_runs(scratch_.path());
  for (std::int64_t seed = 0; seed < 4; ++seed) {
    const double drop = 0.0625 * static_cast<double>(seed);
    store_predictions(scratch_.path(), made_up_predictions("my_lstm", seed, 1 - drop));
    store_predictions(scratch_.path(), made_up_predictions("my_gru", seed, 0.5 - drop));
  }
  const ResultTable table = read_table({scratch_.path()});
  const ComparedWithAll all = compare_with_all(table, "my_lstm", Aggregate::kMean);
  ASSERT_EQ(2U, all.comparisons.size());
  EXPECT_TRUE(all.left_out.empty());
  const ComparedTask& encoding = all.comparisons[0].tasks.at(0);
  const ComparedTask& my_gru = all.comparisons[1].tasks.at(0);
  EXPECT_EQ("my_gru", all.comparisons[1].other.text());
  EXPECT_DOUBLE_EQ(2.0 / 70, *my_gru.p);
  EXPECT_DOUBLE_EQ(2 * 2.0 / 70, *my_gru.adjusted_p) << "over both rows";
  EXPECT_GT(*encoding.adjusted_p, 2 * 2.0 / 70);
  const std::string printed = format_table(comparison_table(all, table), "md");
  expect_contains(printed, {"| 4 / 2 |", "| 4 / 4 |", "| my_gru ", "| dape_kerple ",
                            "With 4 and 4 seeds p is 0.029 at least"});
  EXPECT_FALSE(contains(printed, "that of the seeds' differences"));
  expect_contains(message_of([&] { compare_with_all(table, "gru2", Aggregate::kMean); }),
                  {"'gru2' is no encoding"});
}

TEST_F(PredictionRuns, AreChosenByTheModelsName) {
  store_own_runs(scratch_.path());
  store_predictions(scratch_.path(), made_up_predictions("my_lstm", 0, 0.875));
  store_predictions(scratch_.path(), made_up_predictions("my_gru", 0, 0.5));
  const auto columns = [&](const std::string& condition) {
    return texts_of(read_table({scratch_.path()}, RunChoice({.only = {condition}})).encodings);
  };
  EXPECT_EQ((std::vector<std::string>{"dape_kerple", "my_lstm"}), columns("encoding=[my_lstm,dape_kerple]"));
  EXPECT_EQ((std::vector<std::string>{"my_gru"}), columns("model.name=my_gru"));
  EXPECT_EQ((std::vector<std::string>{"dape_kerple"}), columns("encoding=dape_kerple"));
  expect_contains(message_of([&] { columns("encoding=mamba"); }), {"unknown encoding 'mamba'"});
}

TEST_F(PredictionRuns, OfTwoFoldersCountOnce) {
  const ScratchFolder other;
  store_predictions(scratch_.path(), made_up_predictions("my_lstm", 0, 0.875));
  store_predictions(other.path(), made_up_predictions("my_lstm", 0, 0.5));
  const ResultTable table = read_table({scratch_.path(), other.path()});
  ASSERT_EQ(1U, table.runs.size());
  EXPECT_DOUBLE_EQ(0.875, *table.runs[0].score);
  ASSERT_EQ(1U, table.left_out.size());
  expect_contains(table.left_out[0], {"the same run is in " + scratch_.path().string(),
                                      "that one counts; scores: 50.0 % here, 87.5 % there"});
  const ScratchFolder equal;
  store_predictions(equal.path(), made_up_predictions("my_lstm", 0, 0.875));
  const ResultTable same = read_table({scratch_.path(), equal.path()});
  ASSERT_EQ(1U, same.left_out.size());
  EXPECT_TRUE(same.left_out[0].ends_with(", with the same results, and that one counts")) << same.left_out[0];
  store_predictions(scratch_.path(), made_up_predictions("my_gru", 0, 0.25));
  store_predictions(equal.path(), made_up_predictions("my_gru", 0, 0.25));
  EXPECT_EQ((std::vector<std::string>{
                fmt::format("{}: 2 runs are in {} too, with the same results, and those count",
                            equal.path().string(), scratch_.path().string())}),
            read_table({scratch_.path(), equal.path()}).left_out);
}

TEST(ReadTable, CountsAScoreBeforeARunWithoutOne) {
  const ScratchFolder first;
  const ScratchFolder second;
  store_run(first.path(), made_up_config("even_pairs", "rope"), RunState::kFailed);
  store_run(second.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75);
  for (const auto& folders : std::vector<std::vector<std::filesystem::path>>{{first.path(), second.path()},
                                                                             {second.path(), first.path()}}) {
    const ResultTable table = read_table(folders);
    ASSERT_EQ(1U, table.runs.size());
    EXPECT_DOUBLE_EQ(0.75, *table.runs[0].score);
    ASSERT_EQ(1U, table.left_out.size());
    expect_contains(table.left_out[0], {first.path().string(), second.path().string()});
  }
}

TEST(ReadTable, CountsTheCopyWithMoreRows) {
  const ScratchFolder first;
  const ScratchFolder second;
  for (const std::int64_t seed : {0, 1}) {
    const RunConfig config = made_up_config("even_pairs", "rope", seed);
    store_run(first.path(), config, RunState::kFinished, 0.75);
    const RunFolder run = store_run(second.path(), config, RunState::kFinished, 0.75);
    std::vector<EvaluationRow> rows = run.evaluation();
    rows.push_back(rows.back());
    rows.back().length = 52;
    run.write_evaluation(rows);
  }
  for (const auto& folders : std::vector<std::vector<std::filesystem::path>>{{first.path(), second.path()},
                                                                             {second.path(), first.path()}}) {
    const ResultTable table = read_table(folders);
    ASSERT_EQ(2U, table.runs.size());
    EXPECT_EQ(52, table.runs[0].measured.back().length);
    EXPECT_EQ((std::vector<std::string>{fmt::format(
                  "{}: 2 runs are in {} too, with the same results and more rows, and those count",
                  first.path().string(), second.path().string())}),
              table.left_out);
  }
}

TEST(ReadTable, CountsTheCopyWithTrainingMetrics) {
  const ScratchFolder first;
  const ScratchFolder second;
  for (const ScratchFolder* folder : {&first, &second}) {
    store_run(folder->path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75, 0.5);
  }
  std::filesystem::remove(open_runs(first.path()).at(0).path() / "metrics.csv");
  for (const auto& folders : std::vector<std::vector<std::filesystem::path>>{{first.path(), second.path()},
                                                                             {second.path(), first.path()}}) {
    const ResultTable table = read_table(folders);
    EXPECT_EQ(0.5, table.runs.at(0).training.value().accuracy);
    EXPECT_TRUE(table.left_out.at(0).starts_with(first.path().string()));
    expect_contains(table.left_out[0], {"with the same results and more rows"});
  }
}

// A row of metrics is the mean since the row before, so that one more makes another training accuracy.
TEST(ReadTable, CountsNoCopyWithOtherTrainingMetrics) {
  const ScratchFolder first;
  const ScratchFolder second;
  for (const ScratchFolder* folder : {&first, &second}) {
    store_run(folder->path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75, 0.5);
  }
  const RunFolder changed = open_runs(second.path()).at(0);
  std::vector<MetricsRow> rows = changed.metrics();
  rows.insert(rows.end() - 1, rows.back());
  rows[rows.size() - 2].step -= 1;
  rows[rows.size() - 2].accuracy = 1;
  changed.write_metrics(rows);
  const ResultTable table = read_table({first.path(), second.path()});
  EXPECT_EQ(0.5, table.runs.at(0).training.value().accuracy);
  expect_contains(table.left_out.at(0), {changed.path().string(), "that one counts; their rows differ"});
}

// A config that was run again with fewer test lengths scores the same rows otherwise.
TEST(ReadTable, NamesScoresOfCopiesThatCountOtherLengths) {
  const ScratchFolder first;
  const ScratchFolder second;
  RunConfig config = made_up_config("even_pairs", "rope");
  config.evaluation.last_length = 42;
  const RunFolder run = store_run(first.path(), config, RunState::kFinished, 0.5);
  std::vector<EvaluationRow> rows = run.evaluation();
  rows.back().accuracy = 1;
  run.write_evaluation(rows);
  config.evaluation.last_length = 41;
  store_run(second.path(), config, RunState::kFinished).write_evaluation(rows);
  const auto left_out = [](const ScratchFolder& one, const ScratchFolder& other) {
    return read_table({one.path(), other.path()}).left_out.at(0);
  };
  EXPECT_TRUE(left_out(first, second).ends_with("and that one counts; scores: 50.0 % here, 75.0 % there"));
  EXPECT_TRUE(left_out(second, first).ends_with("and that one counts; scores: 75.0 % here, 50.0 % there"));
}

// The first folder's rows count where two folders contradict each other, even with equal rounded scores.
TEST(ReadTable, NamesCopiesThatContradictEachOther) {
  const ScratchFolder first;
  const ScratchFolder second;
  store_run(first.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75);
  store_run(second.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.7501);
  const ResultTable table = read_table({first.path(), second.path()});
  ASSERT_EQ(1U, table.left_out.size());
  expect_contains(table.left_out[0], {"and that one counts; their rows differ"});
  EXPECT_EQ(0.75, *table.runs.at(0).score);
}

TEST_F(PredictionRuns, KeepTheLengthsOfThePredictions) {
  ScoredPredictions scored = made_up_predictions("my_lstm", 0, 1);
  for (const auto& lengths : std::vector<std::vector<std::int64_t>>{{41, 42, 44}, {41, 43, 45}, {41}}) {
    scored.header.lengths = lengths;
    EXPECT_EQ(lengths, prediction_config(scored).evaluation.lengths());
  }
}

TEST_F(PredictionRuns, RefuseWhatAFolderCannotHold) {
  const auto problem_of = [](const std::string& name) { return foreign_name_problem(name); };
  EXPECT_EQ("", problem_of("my_model-1.5"));
  expect_contains(problem_of("randomized_rope"), {"is an encoding of che"});
  expect_contains(problem_of("lstm"), {"is a model of che", "my_lstm"});
  expect_contains(problem_of("chance"), {"heads another column", "my_chance"});
  expect_contains(problem_of("task"), {"heads another column", "my_task"});
  expect_contains(problem_of("../up"), {"allowed: a name"});
  expect_contains(problem_of("-x"), {"allowed: a name"});
  expect_contains(problem_of(std::string(61, 'a')), {"allowed: a name"});
  expect_contains(problem_of(""), {"allowed: a name"});
}

}  // namespace
}  // namespace che
