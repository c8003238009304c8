#include "models/architectures/recurrent.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "experiments/learn/evaluation.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/learn/training.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_workload.h"
#include "experiments/store/run_rows.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

class Recurrent : public testing::TestWithParam<std::string> {
 protected:
  static RunConfig config_of(const std::string& kind, const OptionValues& options) {
    RunConfig config;
    config.task.reset("reverse_string");
    config.model.kind = kind;
    config.model.options = config.model.all_options().with(options);
    config.training.batch_size = 4;
    config.training.steps = 12;
    config.training.last_length = 9;
    config.evaluation.listed_lengths = {30};
    config.evaluation.samples = kEvaluationBatch;
    return config;
  }

  static RunConfig small_config() { return config_of(GetParam(), {{"width", "24"}}); }

  static at::Tensor trained(const std::vector<RunConfig>& runs, std::int64_t threads,
                            std::optional<std::int64_t> until = {}) {
    const ThreadLimit limit(threads);
    TrainingState state(runs);
    const AfterSteps go_on = [](std::span<const MeasuredStep>) { return true; };
    train(state, go_on, until);
    if (until) train(state, go_on);
    return state.model->parameters().values().clone();
  }
};

TEST_P(Recurrent, TrainsToTheSameBits) {
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    RunConfig config = small_config();
    config.execution.kernels = kernels;
    // More rows than one thread takes at once.
    config.training.batch_size = 70;
    std::vector<RunConfig> runs(3, config);
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].seed = static_cast<std::int64_t>(i);
    const at::Tensor together = trained(runs, 1);
    EXPECT_EQ("", difference(trained(runs, 2), together, 0)) << "two threads, " << kernels_name(kernels);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto replica = static_cast<std::int64_t>(i);
      // LibTorch rounds a sigmoid by the place of its value in the tensor.
      const double tolerance = kernels == Kernels::kFused ? 0 : 1e-6;
      EXPECT_EQ("", difference(trained({runs[i]}, 1), together.slice(0, replica, replica + 1), tolerance))
          << "alone, " << kernels_name(kernels);
    }
    EXPECT_EQ("", difference(trained(runs, 1, 5), together, 0)) << "in two parts, " << kernels_name(kernels);
  }
}

TEST_P(Recurrent, FusedEqualsReference) {
  // Sizes of no whole vectors, a memory that overflows, jumps around the tape, several outputs.
  for (const char* width : {"1", "24", "37"}) {
    RunConfig config = config_of(GetParam(), {{"width", width}});
    if (config.model.all_options().values().contains("memory_size")) {
      config.model.options = config.model.all_options().with({{"memory_size", "5"}, {"memory_cell", "3"}});
    }
    const auto gradients = [&](Kernels kernels, at::ScalarType type) {
      const Backend backend{kernels, at::TensorOptions().dtype(type)};
      const auto model = create_model(config, 2, backend);
      model->parameters().initialise(std::vector<std::int64_t>{1, 2});
      Adam adam(model->parameters(), {0, 0}, {.clip_norm = 1}, backend);
      SequenceBatch batch;
      create_workload(config)->evaluation_batch(9, 0, 7, batch);
      training_step(*model, adam, to_tensors(batch, 0, 7, at::kCPU), {.positions = Positions()}, 0);
      return model->parameters().gradients().clone();
    };
    const at::Tensor expected = gradients(Kernels::kReference, at::kDouble);
    EXPECT_GT(expected.abs().max().item<double>(), 1e-3);
    EXPECT_EQ("", difference(gradients(Kernels::kFused, at::kFloat), expected, 2e-6)) << width;
  }
}

TEST_P(Recurrent, EvaluatesLongStringsAsTheReferenceDoes) {
  RunConfig config = small_config();
  config.evaluation.listed_lengths = {500};
  const auto evaluated = [&](Kernels kernels) {
    const auto model = create_model(config, 1, {kernels, at::TensorOptions().dtype(at::kFloat)});
    model->parameters().initialise(std::vector<std::int64_t>{1});
    const std::atomic<int> stop{0};
    return evaluate_length(*model, {config}, 500, stop).value().rows[0];
  };
  const EvaluationRow fused = evaluated(Kernels::kFused);
  const EvaluationRow expected = evaluated(Kernels::kReference);
  EXPECT_NEAR(fused.loss, expected.loss, 1e-5);
  EXPECT_NEAR(fused.accuracy, expected.accuracy, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Machines, Recurrent,
                         testing::Values("rnn", "lstm", "gru", "stack_rnn", "stack_lstm", "tape_rnn"),
                         [](const auto& kind) { return kind.param; });

// Only evaluation reads memory_size_test: the trained parameters are the same, the rows are others.
TEST(RecurrentMemory, OfEvaluationIsNoPartOfTheRun) {
  RunConfig config;
  config.model.kind = "stack_rnn";
  RunConfig small = config;
  small.model.options = config.model.all_options().with({{"memory_size_test", "3"}});
  EXPECT_EQ(run_id(config), run_id(small));
  EXPECT_EQ((OptionValues{{"memory_size_test", "3"}}), evaluation_settings(small));
  EXPECT_EQ(OptionValues(), evaluation_settings(config));
  EXPECT_EQ(to_yaml(config), to_yaml(with_evaluation_settings(small, {})));
  EXPECT_EQ(to_yaml(small), to_yaml(with_evaluation_settings(config, evaluation_settings(small))));
  for (const char* const other : {"scaling", "width"}) {
    EXPECT_THROW(with_evaluation_settings(config, {{other, "64"}}), Error) << other;
  }

  const std::vector<EvaluationRow> rows{{.length = 41, .samples = 512, .seed = 0, .eval_dropout = false}};
  config.evaluation.listed_lengths = small.evaluation.listed_lengths = {41};
  EXPECT_TRUE(missing_lengths(rows, config).empty());
  EXPECT_EQ(std::vector<std::int64_t>{41}, missing_lengths(rows, small));

  config.model.options = config.model.all_options().with({{"memory_size", "39"}});
  EXPECT_NE(run_id(config), run_id(small));
}

TEST(RecurrentMemory, HoldsTheWholeSequenceInEvaluation) {
  MemoryOptions options;
  EXPECT_EQ(40, options.size_for(1000, false));
  EXPECT_EQ(1000, options.size_for(1000, true));
  EXPECT_EQ(40, options.size_for(12, true));
  options.memory_size_test = 64;
  EXPECT_EQ(64, options.size_for(1000, true));
}

}  // namespace
}  // namespace che
