#include <gtest/gtest.h>

#include "experiments/results/comparison.h"
#include "experiments/results/result_table.h"
#include "models/architectures/foreign.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using RateSelection = ScratchTest;

struct Repetition {
  double rate;
  std::int64_t seed;
  double score;
  double training;
};

// A run, with accuracies `validation` on samples of evaluation seed 1000 where that is given.
RunFolder store(const ScratchFolder& scratch, const char* encoding, const Repetition& run,
                std::optional<double> validation = std::nullopt) {
  RunConfig config = made_up_config("even_pairs", encoding, run.seed);
  config.learning_rate = run.rate;
  const RunFolder folder = store_run(scratch.path(), config, RunState::kFinished, run.score, run.training);
  std::vector<EvaluationRow> rows = folder.evaluation();
  for (const std::int64_t length : config.evaluation.lengths()) {
    if (validation) store_row(rows, {.length = length, .samples = 64, .seed = 1000, .accuracy = *validation});
  }
  folder.write_evaluation(rows);
  return folder;
}

ResultTable table_of(const ScratchFolder& scratch, SelectionRule rule) {
  return make_table(open_runs(scratch.path()), {.score_lengths = std::nullopt, .select = rule});
}

std::vector<double> scores_of(const ResultTable& table, const char* encoding) {
  std::vector<double> scores;
  for (const std::size_t run : cell_called(table, "even_pairs", encoding)->finished) {
    scores.push_back(*table.runs[run].score);
  }
  return scores;
}

// 1e-3 has the best run, and by training the higher mean; 1e-4 is better on validation samples.
void store_two_rates(const ScratchFolder& scratch) {
  store(scratch, "rope", {1e-3, 0, 1.0, 0.875}, 0.5);
  store(scratch, "rope", {1e-3, 1, 0.25, 0.875}, 0.5);
  store(scratch, "rope", {1e-4, 0, 0.75, 0.9375}, 0.75);
  store(scratch, "rope", {1e-4, 1, 0.5, 0.75}, 0.625);
}

TEST_F(RateSelection, KeepsTheRateWithTheHighestMeanOfWhatTheRuleReads) {
  store_two_rates(scratch_);
  const ResultTable by_training = table_of(scratch_, SelectionRule::kTraining);
  EXPECT_EQ(scores_of(by_training, "rope"), (std::vector<double>{1.0, 0.25}))
      << "0.875 against the mean of 0.9375 and 0.75";
  EXPECT_EQ(default_aggregate(by_training), Aggregate::kMean);
  EXPECT_EQ(
      by_training.reading_notes,
      std::vector<std::string>{
          "Each cell has the runs of one learning rate, the one with the highest mean accuracy at the end "
          "of training over the repetitions (--select training): 0.001 for every cell."});
  EXPECT_EQ(scores_of(table_of(scratch_, SelectionRule::kValidation), "rope"),
            (std::vector<double>{0.75, 0.5}));
  EXPECT_EQ(default_aggregate(make_table(open_runs(scratch_.path()))), Aggregate::kMax);
}

// A rate that was run with a lucky seed alone would win otherwise.
TEST_F(RateSelection, ComparesRatesOverTheRepetitionsThatAllHave) {
  store(scratch_, "rope", {1e-3, 0, 1.0, 0.75});
  store(scratch_, "rope", {1e-3, 1, 0.25, 1.0});
  store(scratch_, "rope", {1e-4, 0, 0.5, 0.8125});
  EXPECT_EQ(scores_of(table_of(scratch_, SelectionRule::kTraining), "rope"), std::vector<double>{0.5});
  const ScratchFolder apart;
  store(apart, "rope", {1e-3, 0, 1.0, 0.75});
  store(apart, "rope", {1e-4, 1, 0.5, 0.8125});
  expect_contains(message_of([&] { table_of(apart, SelectionRule::kTraining); }),
                  {"no repetition in common"});
}

TEST_F(RateSelection, OfEqualRatesTakesTheLowest) {
  store(scratch_, "rope", {1e-3, 0, 1.0, 0.875});
  store(scratch_, "rope", {1e-4, 0, 0.5, 0.875});
  EXPECT_EQ(scores_of(table_of(scratch_, SelectionRule::kTraining), "rope"), std::vector<double>{0.5});
}

// The sum of the higher rate is rounded up.
TEST_F(RateSelection, OfEqualMeansTakesTheLowestRate) {
  const std::vector<double> lower{0, 0.3, 0.3};
  const std::vector<double> higher{0.1, 0.2, 0.3};
  ASSERT_LT(lower[0] + lower[1] + lower[2], higher[0] + higher[1] + higher[2]);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto seed = static_cast<std::int64_t>(i);
    store(scratch_, "rope", {1e-4, seed, 0.25, lower[i]});
    store(scratch_, "rope", {3e-4, seed, 0.5, higher[i]});
  }
  EXPECT_EQ(scores_of(table_of(scratch_, SelectionRule::kTraining), "rope"), std::vector<double>(3, 0.25));
}

TEST_F(RateSelection, RefusesRunsThatLackWhatTheRuleReads) {
  store(scratch_, "rope", {1e-3, 0, 1.0, 0.875}, 0.5);
  const RunFolder without = store(scratch_, "rope", {1e-4, 0, 0.5, 0.875});
  const auto problem = [&](SelectionRule rule) { return message_of([&] { table_of(scratch_, rule); }); };
  expect_contains(problem(SelectionRule::kValidation),
                  {without.id() + " has no accuracy as ",
                   "scored lengths 41:44; `che evaluate EXPERIMENT_DIR --seed 1000`"});
  without.write_metrics({});
  expect_contains(problem(SelectionRule::kTraining), {without.id() + " has no training metrics"});
  RunConfig waiting = made_up_config("even_pairs", "rope", 1);
  waiting.learning_rate = 1e-4;
  store_run(scratch_.path(), waiting, RunState::kTraining);
  without.write_metrics({{.step = 100, .loss = 1, .accuracy = 0.5, .gradient_norm = 1, .seconds = 1}});
  expect_contains(problem(SelectionRule::kTraining), {"is not finished, and its cell has several"});
}

// A row over more steps has a mean with what was before the end.
TEST_F(RateSelection, RefusesMeansOverOtherStepsOfTraining) {
  store_two_rates(scratch_);
  const RunFolder folder = store(scratch_, "rope", {1e-3, 0, 1.0, 0.875}, 0.5);
  const std::int64_t steps = folder.metrics().back().step;
  MetricsRow row = folder.metrics().back();
  row.step = steps - steps / 10;
  MetricsRow last = row;
  last.step = steps;
  folder.write_metrics({row, last});
  expect_contains(message_of([&] { table_of(scratch_, SelectionRule::kTraining); }),
                  {"of rope on even_pairs were measured at different steps", folder.id(), "log.every_steps"});
  table_of(scratch_, SelectionRule::kValidation);
}

// 1e-3 was also measured on easier samples, of another seed and of a larger number, which say nothing of
// 1e-4.
TEST_F(RateSelection, NamesTheSettingsThatACellIsToBeValidatedWith) {
  for (const double rate : {1e-4, 3e-4}) {
    const RunFolder folder = store(scratch_, "rope", {rate, 0, 0.5, 0.5}, 0.5);
    std::vector<EvaluationRow> rows = folder.evaluation();
    for (EvaluationRow row : folder.evaluation()) {
      row.encoding_settings = {{"scaling", "yarn"}};
      if (row.seed == 0) store_row(rows, row);
    }
    folder.write_evaluation(rows);
  }
  expect_contains(message_of([&] { table_of(scratch_, SelectionRule::kValidation); }),
                  {"has no accuracy as rope(scaling=yarn)", "--seed 1000 --set encoding.scaling=yarn`"});
}

TEST_F(RateSelection, ValidatesOnTheSamplesThatAllRunsHave) {
  const RunFolder more = store(scratch_, "rope", {1e-3, 0, 1.0, 0.875}, 0.5);
  store(scratch_, "rope", {1e-4, 0, 0.75, 0.875}, 0.625);
  std::vector<EvaluationRow> rows = more.evaluation();
  for (const std::int64_t length : more.config().evaluation.lengths()) {
    store_row(rows, {.length = length, .samples = 64, .seed = 2000, .accuracy = 1});
    store_row(rows, {.length = length, .samples = 128, .seed = 1000, .accuracy = 1});
  }
  more.write_evaluation(rows);
  EXPECT_EQ(scores_of(table_of(scratch_, SelectionRule::kValidation), "rope"), std::vector<double>{0.75});
  std::erase_if(rows, [](const EvaluationRow& row) { return row.seed == 1000; });
  more.write_evaluation(rows);
  expect_contains(message_of([&] { table_of(scratch_, SelectionRule::kValidation); }),
                  {"the runs of rope on even_pairs were measured on different samples"});
}

TEST_F(RateSelection, SaysThatModelsOutsideCheHaveAllTheirRuns) {
  store_two_rates(scratch_);
  const auto note = [&] { return table_of(scratch_, SelectionRule::kTraining).reading_notes.back(); };
  EXPECT_EQ(std::string::npos, note().find("Models outside che")) << note();
  RunConfig my_lstm = made_up_config("even_pairs", "rope");
  my_lstm.model = foreign_model("my_lstm");
  store_run(scratch_.path(), my_lstm, RunState::kFinished, 0.5);
  expect_contains(note(), {". Models outside che have all their runs, because their rates are not known."});
}

// Repetitions are paired although the rule chose another rate for each of the two.
TEST_F(RateSelection, ComparisonsPairTheSelectedRates) {
  store_two_rates(scratch_);
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    store(scratch_, "none", {1e-3, seed, 0.5, 0.5});
    store(scratch_, "none", {1e-4, seed, 0.125, 0.875});
  }
  const ComparedTask task =
      compare(table_of(scratch_, SelectionRule::kTraining), "rope", "none", Aggregate::kMean).tasks[0];
  EXPECT_EQ(task.seeds, 2U);
  EXPECT_DOUBLE_EQ(task.difference.value(), 0.5) << "1.0 and 0.25 against 0.125";
  EXPECT_TRUE(task.rates.empty());
  EXPECT_EQ(task.unpaired, 0U);
}

}  // namespace
}  // namespace che
