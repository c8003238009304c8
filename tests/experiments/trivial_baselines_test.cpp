#include "experiments/trivial_baselines.h"

#include <gtest/gtest.h>

#include "tasks/task.h"

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
  EXPECT_NEAR(baselines.position_only, 0.90, 0.02);
  EXPECT_NEAR(baselines.constant, 0.20, 0.01);
  EXPECT_GT(baselines.lengths.back().position_only, baselines.lengths.front().position_only);
}

// Of 1 .. 15, uniform, twelve have a root of 2 or 3 and ten an odd one.
TEST(TrivialBaselines, BitsOfASmallRootAreOneMoreOften) {
  EvaluationConfig evaluation;
  evaluation.first_length = evaluation.last_length = 4;
  evaluation.samples = 16'384;
  const TrivialBaselines baselines = measure_trivial_baselines(task_named("compute_sqrt"), evaluation);
  EXPECT_EQ(baselines.symbol, '1');
  EXPECT_NEAR(baselines.constant, (12.0 + 10.0) / 30, 0.01);
  EXPECT_EQ(baselines.position_only, baselines.constant);
}

// Fitting on the samples that are scored would give 52 % here.
TEST(TrivialBaselines, NothingIsGainedWhereThereIsNothingToKnow) {
  const TrivialBaselines baselines = measure_trivial_baselines(task_named("reverse_string"), few_lengths());
  EXPECT_NEAR(baselines.position_only, 0.5, 0.005);
  EXPECT_NEAR(baselines.constant, 0.5, 0.005);
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
      sample_batch(*task, "stack_manipulation", {0, Purpose::kEvaluation, length, first},
                   static_cast<std::int64_t>(length), 64, batch);
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
  EXPECT_NEAR(baselines.constant, score, 1e-12);
  EXPECT_GT(baselines.position_only, baselines.constant) << "short stacks end at their place";
}

TEST(TrivialBaselines, AreTheSameEveryTime) {
  const TrivialBaselines one = measure_trivial_baselines(task_named("binary_addition"), few_lengths());
  const TrivialBaselines other = measure_trivial_baselines(task_named("binary_addition"), few_lengths());
  EXPECT_EQ(one.constant, other.constant);
  EXPECT_EQ(one.position_only, other.position_only);
  EXPECT_EQ(one.lengths.size(), few_lengths().lengths().size());
}

}  // namespace
}  // namespace che
