#include "experiments/learn/training.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "experiments/learn/batches.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/plan/run_workload.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

TEST(RateFraction, RisesLinearlyAndStays) {
  TrainingConfig training;
  EXPECT_EQ(rate_fraction(training, 0), 1);
  training.warmup_steps = 4;
  EXPECT_EQ(rate_fraction(training, 0), 0.25);
  EXPECT_EQ(rate_fraction(training, 2), 0.75);
  EXPECT_EQ(rate_fraction(training, 3), 1);
  EXPECT_EQ(rate_fraction(training, 100), 1);
}

TEST(RateFraction, FallsAlongAHalfCosine) {
  const TrainingConfig training{
      .steps = 12, .warmup_steps = 2, .schedule = RateSchedule::kCosine, .final_rate = 0.2};
  EXPECT_EQ(rate_fraction(training, 0), 0.5);
  EXPECT_EQ(rate_fraction(training, 1), 1);
  EXPECT_NEAR(rate_fraction(training, 6), 0.6, 1e-12);
  EXPECT_NEAR(rate_fraction(training, 11), 0.2, 1e-12);
}

RunConfig small_config(const std::string& encoding) {
  RunConfig config;
  config.task.reset("even_pairs");
  config.encoding.reset(encoding);
  config.encoding.max_position = 128;
  config.model.shape() = {.width = 16, .layers = 2, .heads = 2, .ffn_multiple = 2};
  config.training.batch_size = 16;
  config.training.last_length = 12;
  config.training.steps = 6;
  config.learning_rate = 1e-3;
  return config;
}

at::Tensor trained(const std::vector<RunConfig>& runs) {
  TrainingState state(runs);
  train(state, [](std::span<const MeasuredStep>) { return true; });
  EXPECT_EQ(runs.front().training.steps, state.step);
  return state.model->parameters().values().clone();
}

TEST(Training, IsRepeatable) {
  const RunConfig config = small_config("randomized_dape_kerple");
  EXPECT_TRUE(at::equal(trained({config}), trained({config})));
}

// A few steps of whole models: near those of fp32 and not the same, with any number of threads and replicas,
// and in the compositions of library operations, too.
TEST(Training, InBf16IsNearFp32AndTheSameForEveryNumberOfThreads) {
  for (const char* encoding : {"alibi", "dape_kerple"}) {
    SCOPED_TRACE(encoding);
    RunConfig config = small_config(encoding);
    config.model.shape().width = 64;
    config.training.last_length = 40;
    const at::Tensor fp32 = trained({config});
    config.execution.precision = Precision::kBf16;
    EXPECT_EQ("cpu (bf16)", open_device(config.execution).description);
    std::vector<at::Tensor> values;
    for (const std::int64_t threads : {1, 2}) {
      const ThreadLimit limit(threads);
      values.push_back(trained({config}));
    }
    const ThreadLimit limit(1);
    EXPECT_TRUE(at::equal(values[0], values[1]));
    EXPECT_FALSE(at::equal(fp32, values[0]));
    RunConfig other = config;
    other.seed = 9;
    EXPECT_EQ("", difference(trained({config, other})[0], values[0][0], 1e-5));

    // Adam moves a value by no more than the rate a step, whatever its gradient.
    const double most = 2 * config.learning_rate * static_cast<double>(config.training.steps);
    EXPECT_LE((values[0] - fp32).abs().max().item<double>(), most);
    EXPECT_LE((values[0] - fp32).abs().mean().item<double>(), most / 20);
    config.execution.kernels = Kernels::kReference;
    EXPECT_LE((trained({config}) - values[0]).abs().mean().item<double>(), most / 20);
  }
}

TEST(Training, ReplicasOfAJobEqualSingleRuns) {
  RunConfig first = small_config("dape_kerple");
  RunConfig second = first;
  second.seed = 9;
  second.learning_rate = 3e-3;
  const at::Tensor together = trained({first, second});
  EXPECT_EQ("", difference(together[0], trained({first})[0], 1e-5));
  EXPECT_EQ("", difference(together[1], trained({second})[0], 1e-5));
}

TEST(Training, SeedsAndRatesAndDataMatter) {
  const RunConfig config = small_config("rope");
  const at::Tensor base = trained({config});
  for (auto change : std::vector<std::function<void(RunConfig&)>>{
           [](RunConfig& c) { c.seed = 1; }, [](RunConfig& c) { c.data_seed = 1; },
           [](RunConfig& c) { c.learning_rate = 2e-3; }, [](RunConfig& c) { c.training.dropout = 0; },
           [](RunConfig& c) { c.training.clip_norm = 0.01; }}) {
    RunConfig changed = config;
    change(changed);
    EXPECT_FALSE(at::equal(base, trained({changed})));
  }
}

TEST(Training, LearnsAnEasyTask) {
  RunConfig config = small_config("none");
  config.task.reset("bucket_sort");
  config.encoding.reset("sin_cos");
  config.training.last_length = 5;
  config.training.steps = 300;
  config.training.dropout = 0;
  config.learning_rate = 3e-3;
  TrainingState state({config});
  double first = 0;
  double last = 0;
  train(state, [&](std::span<const MeasuredStep> steps) {
    for (const MeasuredStep& made : steps) {
      if (made.step <= 20) first += made.result.loss[0] / 20;
      if (made.step > 280) last += made.result.loss[0] / 20;
    }
    return true;
  });
  EXPECT_LT(last, 0.5 * first);
}

TEST(BatchStream, DependsOnTaskDataSeedAndStepOnly) {
  RunConfig config = small_config("rope");
  const auto workload = create_workload(config);
  BatchStream from_start(*workload, 0);
  from_start.next();
  from_start.next();
  const SequenceBatch third = from_start.next();
  config.seed = 5;
  config.encoding.reset("none");
  const auto same = create_workload(config);
  BatchStream resumed(*same, 2);
  const SequenceBatch& again = resumed.next();
  EXPECT_EQ(third.length, again.length);
  EXPECT_EQ(third.tokens, again.tokens);
  EXPECT_EQ(third.targets, again.targets);
}

TEST(BatchStream, ThrowsWhatSamplingThrewAtEachCall) {
  RunConfig config = small_config("rope");
  config.training.batch_size = -1;
  const auto workload = create_workload(config);
  BatchStream stream(*workload, 0);
  for (int i = 0; i < 3; ++i) expect_contains(message_of([&] { stream.next(); }), {"a batch of -1 samples"});
}

// Its thread may be sampling, or wait.
TEST(BatchStream, CanEndAtAnyMoment) {
  RunConfig config = small_config("rope");
  config.training.batch_size = 4096;
  const auto workload = create_workload(config);
  for (int steps = 0; steps < 20; ++steps) {
    BatchStream stream(*workload, 0);
    for (int i = 0; i < steps % 3; ++i) EXPECT_EQ(4096, stream.next().size);
  }
}

TEST(BatchStream, DrawsEveryTrainingLength) {
  RunConfig config = small_config("rope");
  config.training.batch_size = 1;
  const auto workload = create_workload(config);
  std::vector<int> seen(13);
  SequenceBatch batch;
  for (std::int64_t step = 0; step < 600; ++step) {
    workload->training_batch(step, batch);
    ++seen.at(static_cast<std::size_t>(batch.length));
  }
  EXPECT_EQ(0, seen[0]);
  for (std::size_t length = 1; length <= 12; ++length) EXPECT_GT(seen[length], 20) << length;
}

}  // namespace
}  // namespace che
