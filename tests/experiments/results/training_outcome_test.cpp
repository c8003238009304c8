#include "experiments/results/training_outcome.h"

#include <gtest/gtest.h>

#include "experiments/results/result_table.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

std::vector<MetricsRow> rows_of(const std::vector<std::pair<std::int64_t, double>>& accuracies) {
  std::vector<MetricsRow> rows;
  for (const auto& [step, accuracy] : accuracies) rows.push_back({.step = step, .accuracy = accuracy});
  return rows;
}

TEST(TrainingOutcome, IsTheMeanOfTheLastTenth) {
  TrainingJudge judge;
  const RunConfig config = made_up_config("reverse_string", "rope");
  EXPECT_FALSE(judge.judge(config, {}).has_value());
  const auto outcome = judge.judge(config, rows_of({{800, 0.5}, {900, 0.625}, {950, 0.75}, {1000, 1.0}}));
  EXPECT_DOUBLE_EQ(*outcome->accuracy, 0.875);
  // Rows may cover different numbers of steps.
  EXPECT_DOUBLE_EQ(*judge.judge(config, rows_of({{900, 0.5}, {990, 0.75}, {1000, 0.5}}))->accuracy, 0.725);
  EXPECT_DOUBLE_EQ(*judge.judge(config, rows_of({{3, 0.25}}))->accuracy, 0.25);
}

// A run of which nothing is known counts neither as trained nor as untrained.
TEST(TrainingOutcome, IsKnownOfAModelWithoutTrainingAndNotOfLostMetrics) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("even_pairs", "rope");
  store_run(scratch.path(), config, RunState::kFinished, 0.5, 0.9).write_metrics({});
  config.encoding.reset("alibi");
  config.training.steps = 0;
  store_run(scratch.path(), config, RunState::kFinished, 0.5).write_metrics({});
  const ResultTable table = make_table(open_runs(scratch.path()));
  ASSERT_EQ(table.runs.size(), 2U);
  for (const auto& [key, cell] : table.cells) {
    const bool is_untrained = key.encoding.text().starts_with("alibi");
    EXPECT_EQ(cell.did_not_train(Aggregate::kMax), is_untrained);
    EXPECT_EQ(cell.is_training_known(Aggregate::kMean), is_untrained);
    EXPECT_EQ(cell.untrained, is_untrained ? 1U : 0U);
    EXPECT_EQ(cell.trained, 0U);
  }
  // One of two runs is known not to have trained, and nothing is known of the other.
  TableCell mixed = table.cells.begin()->second;
  mixed.finished = {0, 1};
  mixed.trained = 0;
  mixed.untrained = 1;
  EXPECT_FALSE(mixed.did_not_train(Aggregate::kMean));
  EXPECT_FALSE(mixed.is_training_known(Aggregate::kMean));
  mixed.trained = 1;
  EXPECT_TRUE(mixed.is_training_known(Aggregate::kMean));
}

TEST(TrainingOutcome, CountsInItsCell) {
  const ScratchFolder scratch;
  const double at_chance = 0.5;
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    store_run(scratch.path(), made_up_config("even_pairs", "rope", seed), RunState::kFinished, 0.5,
              seed == 1 ? 0.9 : at_chance);
    store_run(scratch.path(), made_up_config("even_pairs", "alibi", seed), RunState::kFinished, 0.5,
              at_chance);
  }
  store_run(scratch.path(), made_up_config("even_pairs", "none"), RunState::kTraining);
  const ResultTable table = make_table(open_runs(scratch.path()));
  const TableCell& mixed = *cell_called(table, "even_pairs", "rope");
  EXPECT_EQ(mixed.trained, 1U);
  EXPECT_EQ(mixed.untrained, 2U);
  EXPECT_FALSE(mixed.did_not_train(Aggregate::kMax)) << "of tied runs one that trained counts";
  EXPECT_EQ(1, table.runs[mixed.best].config.seed);
  const RunConfig unknown = made_up_config("even_pairs", "alibi", 3);
  std::filesystem::remove(store_run(scratch.path(), unknown, RunState::kFinished, 0.5).path() /
                          "metrics.csv");
  const ResultTable more = make_table(open_runs(scratch.path()));
  EXPECT_FALSE(cell_called(more, "even_pairs", "alibi")->did_not_train(Aggregate::kMax)) << "one may have";
  EXPECT_FALSE(mixed.did_not_train(Aggregate::kMean));
  for (const Aggregate aggregate : {Aggregate::kMax, Aggregate::kMean}) {
    EXPECT_TRUE(cell_called(table, "even_pairs", "alibi")->did_not_train(aggregate));
    EXPECT_FALSE(cell_called(table, "even_pairs", "none")->did_not_train(aggregate)) << "it still trains";
  }
}

TEST(TrainingOutcome, ComparesWithTheBestPredictorAtTheTrainingLengths) {
  TrainingJudge judge;
  const auto trained = [&](const std::string& task, double accuracy) {
    return judge.judge(made_up_config(task, "rope"), rows_of({{100, accuracy}, {1000, accuracy}}))
        .value()
        .trained;
  };
  EXPECT_FALSE(trained("even_pairs", 0.53)) << "of one symbol the answer is always that both ends agree";
  EXPECT_TRUE(trained("even_pairs", 0.58));
  EXPECT_FALSE(trained("modular_arithmetic_simple", 0.21));
  EXPECT_TRUE(trained("modular_arithmetic_simple", 0.3));
  EXPECT_FALSE(trained("bucket_sort", 0.5)) << "what positions alone score is far above chance";
}

TEST(TrainingOutcome, IsKnownForABoundedNumberOfTasksAndLengths) {
  TrainingJudge judge;
  const auto is_judged = [&](std::int64_t length) {
    RunConfig config = made_up_config("even_pairs", "rope");
    config.training.first_length = config.training.last_length = length;
    return judge.judge(config, rows_of({{100, 1}, {1000, 1}})).has_value();
  };
  for (std::size_t i = 1; i <= TrainingJudge::kMostMeasured; ++i) {
    EXPECT_TRUE(is_judged(static_cast<std::int64_t>(i)));
  }
  EXPECT_FALSE(judge.has_unjudged());
  EXPECT_FALSE(is_judged(1000));
  EXPECT_TRUE(judge.has_unjudged());
  EXPECT_TRUE(is_judged(1)) << "as its lengths were measured before";
}

TEST(Divergence, IsALossAboveThatOfAModelWithoutTraining) {
  const RunConfig config = made_up_config("even_pairs", "rope");
  const auto diverges = [&](double first, double last) {
    return divergence(config, {{.step = 100, .loss = first}, {.step = 1000, .loss = last}}).has_value();
  };
  EXPECT_FALSE(diverges(0.75, 0.1));
  EXPECT_TRUE(diverges(0.75, 2.3));
  EXPECT_TRUE(diverges(300, 2.3)) << "it diverged before the first row ended";
  EXPECT_FALSE(diverges(0.69, 0.71)) << "it has learned nothing, which is no divergence";
  EXPECT_FALSE(diverges(0.2, 1.19)) << "a model without training may have ln 2 + 1/2";
  EXPECT_TRUE(diverges(0.2, 1.2));
  EXPECT_FALSE(divergence(config, {}).has_value());
  EXPECT_EQ("diverged: training loss 2.3 at the end, at most 0.75 on average without training",
            divergence_text({.loss = 2.3, .untrained = 0.75}));
}

}  // namespace
}  // namespace che
