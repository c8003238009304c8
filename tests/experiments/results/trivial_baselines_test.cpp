#include "experiments/results/trivial_baselines.h"

#include <gtest/gtest.h>

#include "experiments/results/result_table.h"
#include "tasks/task.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TaskConfig task_named(const std::string& name) {
  TaskConfig task;
  task.reset(name);
  return task;
}

EvaluationConfig few_lengths() {
  EvaluationConfig evaluation;
  evaluation.length_step = 51;  // 41, 92, ... 500
  evaluation.samples = 256;
  return evaluation;
}

// Place in the sorted string tells the symbol but near the borders between symbols.
TEST(TrivialBaselines, PositionAloneSortsMostBuckets) {
  const TrivialBaselines baselines = measure_trivial_baselines(task_named("bucket_sort"), few_lengths());
  EXPECT_NEAR(baselines.position_only.score, 0.90, 0.02);
  EXPECT_NEAR(baselines.constant.score, 0.20, 0.01);
  EXPECT_GT(baselines.lengths.back().position_only, baselines.lengths.front().position_only);
}

// Of 1 .. 15, uniform, twelve have a root of 2 or 3 and ten an odd one.
TEST(TrivialBaselines, BitsOfASmallRootAreOneMoreOften) {
  EvaluationConfig evaluation;
  evaluation.first_length = evaluation.last_length = 4;
  evaluation.samples = 16'384;
  const TrivialBaselines baselines = measure_trivial_baselines(task_named("compute_sqrt"), evaluation);
  EXPECT_EQ(baselines.symbol, '1');
  EXPECT_NEAR(baselines.constant.score, (12.0 + 10.0) / 30, 0.01);
  EXPECT_EQ(baselines.position_only.score, baselines.constant.score);
}

// Fitting on the samples that are scored would give 52 % here.
TEST(TrivialBaselines, NothingIsGainedWhereThereIsNothingToKnow) {
  const TrivialBaselines baselines = measure_trivial_baselines(task_named("reverse_string"), few_lengths());
  EXPECT_NEAR(baselines.position_only.score, 0.5, 0.005);
  EXPECT_NEAR(baselines.constant.score, 0.5, 0.005);
}

// The same counts in plain loops; stack_manipulation's accuracy ends at the terminator.
TEST(TrivialBaselines, ScoresWhatModelsAreScoredOn) {
  EvaluationConfig evaluation;
  evaluation.first_length = 41;
  evaluation.last_length = 43;
  evaluation.samples = 128;
  const TrivialBaselines baselines = measure_trivial_baselines(task_named("stack_manipulation"), evaluation);
  const auto task = create_task("stack_manipulation");
  double score = 0;
  for (std::uint64_t length = 41; length <= 43; ++length) {
    for (std::uint64_t first = 0; first < 128; first += 64) {
      Batch batch;
      sample_batch(*task, {0, Purpose::kEvaluation, length, first}, static_cast<std::int64_t>(length), 64,
                   batch);
      double hits = 0;
      double counted = 0;
      for (std::size_t i = 0; i < batch.output.size(); ++i) {
        if (batch.mask[i] == 0) continue;
        counted += 1;
        hits += task->output_symbols()[batch.output[i]] == baselines.symbol ? 1 : 0;
      }
      score += hits / counted / 6;
    }
  }
  EXPECT_NEAR(baselines.constant.score, score, 1e-12);
  EXPECT_GT(baselines.position_only.score, baselines.constant.score) << "short stacks end at their place";
}

// A length that may have few symbols gets fewer samples.
TEST(TrivialBaselines, DrawABoundedNumberOfSymbols) {
  EvaluationConfig evaluation;
  evaluation.first_length = evaluation.last_length = 50;
  evaluation.samples = 256;
  const TaskConfig task = task_named("reverse_string");
  const auto with_bound = [&](std::int64_t symbols) {
    return measure_trivial_baselines(task, evaluation, {50}, symbols).constant;
  };
  EXPECT_EQ(with_bound(256 * 50).score, measure_trivial_baselines(task, evaluation).constant.score);
  const double of_all = with_bound(256 * 50).score;
  EXPECT_NE(with_bound(256 * 50 - 1).score, of_all);
  evaluation.samples = 192;
  EXPECT_NE(with_bound(256 * 50).score, of_all);
  EXPECT_EQ(with_bound(256 * 50).score, with_bound(192 * 50).score);
  EXPECT_TRUE(with_bound(128 * 50).standard_error);
  EXPECT_FALSE(with_bound(128 * 50 - 1).standard_error) << "one batch";
  evaluation.first_length = evaluation.last_length = kMaxLength;
  EXPECT_EQ(1,
            measure_trivial_baselines(task_named("parity_check"), evaluation, {kMaxLength}, 1).constant.score)
      << "one sample, whose answer is one symbol";
}

// A model that answers the most frequent letter of its input is no better than these.
TEST(TrivialBaselines, CountingTheInputsSymbolsBeatsGuessing) {
  EvaluationConfig evaluation{.first_length = 50, .last_length = 200, .length_step = 50, .samples = 512};
  const auto frequent = [&](const std::string& task) {
    return measure_trivial_baselines(task_named(task), evaluation).frequent_symbol;
  };
  // E|2 X - L| / 2 L for X ~ Binomial(L, 1/2), averaged over these lengths, is 0.0389.
  EXPECT_NEAR(frequent("reverse_string")->score, 0.539, 0.003);
  EXPECT_NEAR(frequent("duplicate_string")->score, 0.539, 0.003);
  EXPECT_NEAR(frequent("stack_manipulation")->score, 0.534, 0.005);
  EXPECT_FALSE(frequent("even_pairs").has_value()) << "its output is no letter of its input";
  TrivialBaselines none;
  EXPECT_EQ(&none.best(), &none.constant);
}

// The best constant on the samples themselves, so that a model that answers a constant is never above it.
TEST(TrivialBaselines, ConstantIsTheBestOnTheSamplesItIsScoredOn) {
  EvaluationConfig evaluation{.first_length = 50, .last_length = 200, .length_step = 50, .samples = 512};
  for (evaluation.seed = 0; evaluation.seed < 8; ++evaluation.seed) {
    EXPECT_GE(measure_trivial_baselines(task_named("parity_check"), evaluation).constant.score, 0.5);
  }
}

// Of n single answers with probability 1/2, over 4 lengths of 512 samples: sqrt(1/4 / 2048).
TEST(TrivialBaselines, StandardErrorIsThatOfTheSamples) {
  EvaluationConfig evaluation{.first_length = 50, .last_length = 200, .length_step = 50, .samples = 512};
  double sum = 0;
  for (evaluation.seed = 0; evaluation.seed < 16; ++evaluation.seed) {
    sum += *measure_trivial_baselines(task_named("parity_check"), evaluation).constant.standard_error;
  }
  EXPECT_NEAR(sum / 16, 0.01105, 0.001);
  evaluation.samples = 64;
  EXPECT_FALSE(
      measure_trivial_baselines(task_named("parity_check"), evaluation).constant.standard_error.has_value());
}

// A run without a score has no samples that a row could differ in.
TEST(TrivialBaselines, AreOfTheRunsWithAScore) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("bucket_sort", "rope"), RunState::kFinished, 0.4);
  RunConfig other = made_up_config("bucket_sort", "alibi");
  other.evaluation.last_length += 4;
  store_run(scratch.path(), other, RunState::kWaiting);
  const auto has_baselines = [&] {
    ResultTable table = make_table(open_runs(scratch.path()));
    add_trivial_baselines(table);
    return table.rows.front().baselines.has_value();
  };
  EXPECT_TRUE(has_baselines());
  store_run(scratch.path(), other, RunState::kFinished, 0.4);
  EXPECT_FALSE(has_baselines());
}

TEST(TrivialBaselines, AreOfSamplesThatEveryColumnHas) {
  const ScratchFolder scratch;
  const auto has_baselines_with = [&](const char* encoding, std::int64_t seed) {
    RunConfig config = made_up_config("bucket_sort", encoding, seed);
    config.evaluation.seed = seed;
    store_run(scratch.path(), config, RunState::kFinished, 0.4);
    ResultTable table = make_table(open_runs(scratch.path()));
    add_trivial_baselines(table);
    return table.rows.front().baselines.has_value();
  };
  EXPECT_TRUE(has_baselines_with("rope", 0));
  EXPECT_FALSE(has_baselines_with("alibi", 1));
  EXPECT_TRUE(has_baselines_with("alibi", 0));
}

TEST(TrivialBaselines, AreTheSameEveryTime) {
  const TrivialBaselines one = measure_trivial_baselines(task_named("binary_addition"), few_lengths());
  const TrivialBaselines other = measure_trivial_baselines(task_named("binary_addition"), few_lengths());
  EXPECT_EQ(one.constant.score, other.constant.score);
  EXPECT_EQ(one.position_only.score, other.position_only.score);
  EXPECT_EQ(one.frequent_symbol->score, other.frequent_symbol->score);
  EXPECT_EQ(one.lengths.size(), few_lengths().lengths().size());
}

}  // namespace
}  // namespace che
