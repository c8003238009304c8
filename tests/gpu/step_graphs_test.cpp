// Training steps that are captured and replayed on a device that is not the CPU: the bits of those that are
// not.
#include "experiments/learn/step_graphs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/learn/training.h"
#include "experiments/measure/step_benchmark.h"
#include "experiments/plan/run_workload.h"
#include "models/ops/device/backend.h"
#include "models/ops/device/device_graphs.h"
#include "tests/gpu/device_backend.h"
#include "tests/gpu/fake_device.h"
#include "tests/gpu/fake_graph.h"
#include "tests/message_of.h"
#include "tests/models/encodings/encoding_models.h"

namespace che {
namespace {

// Other graphs in place of those of the fake device, while it exists.
class OtherGraphs {
 public:
  explicit OtherGraphs(NewDeviceGraphs others) { emulated_gpu()->create_graphs = others; }
  ~OtherGraphs() { emulated_gpu()->create_graphs = open_device_graphs(CHE_STAND_IN_GRAPHS); }
  OtherGraphs(const OtherGraphs&) = delete;
  OtherGraphs& operator=(const OtherGraphs&) = delete;
};

// Batches of two lengths, with dropout and with a learning rate that grows.
std::vector<RunConfig> runs_of(const std::string& encoding, std::int64_t replicas) {
  RunConfig config = small_config(encoding);
  config.training = {
      .steps = 10, .warmup_steps = 8, .batch_size = 2, .first_length = 2, .last_length = 3, .dropout = 0.1};
  config.log.every_steps = 100;
  std::vector<RunConfig> runs(static_cast<std::size_t>(replicas), config);
  for (std::size_t r = 0; r < runs.size(); ++r) runs[r].seed = static_cast<std::int64_t>(r);
  return runs;
}

void set_graphs(std::vector<RunConfig>& runs, bool graphs) {
  for (RunConfig& run : runs) run.execution.graphs = graphs;
}

// What a training measured and made.
struct Trained {
  std::vector<std::vector<double>> results;  // Of each step: losses, accuracies, norms.
  std::vector<std::int64_t> lengths;
  std::vector<at::Tensor> tensors;  // Parameters and moments, on the host.
  std::size_t graphs = 0;
};

Trained trained_on(TrainingState& state, bool stops = false) {
  Trained trained;
  const auto take = [&](std::span<const MeasuredStep> made) {
    for (const MeasuredStep& one : made) {
      std::vector<double>& all = trained.results.emplace_back(one.result.loss);
      all.insert(all.end(), one.result.accuracy.begin(), one.result.accuracy.end());
      all.insert(all.end(), one.result.gradient_norm.begin(), one.result.gradient_norm.end());
      trained.lengths.push_back(one.length);
    }
    return !stops;
  };
  while (state.step < state.runs.front().training.steps) train(state, take);
  for (const at::Tensor& x :
       {state.model->parameters().values(), state.adam.first_moment, state.adam.second_moment}) {
    trained.tensors.push_back(x.detach().to(at::kCPU));
  }
  trained.graphs = state.graphs == nullptr ? 0 : state.graphs->count();
  return trained;
}

Trained trained(std::vector<RunConfig> runs, bool graphs, Kernels kernels = Kernels::kFused) {
  set_graphs(runs, graphs);
  TrainingState state(std::move(runs), on_the_device(kernels));
  return trained_on(state);
}

bool has_equal_bits(const at::Tensor& one, const at::Tensor& other) {
  return at::equal(one.view(at::kInt), other.view(at::kInt));
}

void expect_equal_bits(const Trained& expected, const Trained& found) {
  EXPECT_EQ(expected.lengths, found.lengths);
  ASSERT_EQ(expected.results.size(), found.results.size());
  for (std::size_t i = 0; i < expected.results.size(); ++i) {
    EXPECT_EQ(expected.results[i], found.results[i]) << "step " << i;
  }
  for (std::size_t i = 0; i < expected.tensors.size(); ++i) {
    EXPECT_TRUE(has_equal_bits(expected.tensors[i], found.tensors[i])) << i;
  }
}

class EveryEncodingWithGraphs : public testing::TestWithParam<std::tuple<std::string, std::int64_t>> {};

TEST_P(EveryEncodingWithGraphs, TrainsToTheBitsOfStepsWithoutThem) {
  const auto& [encoding, replicas] = GetParam();
  const std::vector<RunConfig> runs = runs_of(encoding, replicas);
  const Trained eager = trained(runs, false);
  const Trained replayed = trained(runs, true);
  expect_equal_bits(eager, replayed);
  EXPECT_EQ(0U, eager.graphs);
  EXPECT_EQ(2U, replayed.graphs);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryEncodingWithGraphs,
                         testing::Combine(testing::ValuesIn(all_labels()), testing::Values(1, 3)),
                         [](const auto& one) {
                           return std::get<std::string>(one.param) + "_replicas" +
                                  std::to_string(std::get<std::int64_t>(one.param));
                         });

// Also those of which no batch comes. All are captured before the first step, the longest first, so that the
// others find room in its memory.
TEST(StepGraphs, AreCapturedFromTheLongestOn) {
  static std::vector<std::int64_t> bytes;  // Of the tensors that each capture made.
  class Measured : public DeviceGraph {
   public:
    void begin() override {
      graph_.begin();
      reset_peak_device_bytes(fake_device());
      before_ = peak_device_bytes(fake_device());
    }
    void end() override {
      bytes.push_back(static_cast<std::int64_t>(peak_device_bytes(fake_device()) - before_));
      graph_.end();
    }
    void replay() override { graph_.replay(); }

   private:
    FakeGraph graph_;
    double before_ = 0;
  };
  class AllMeasured : public DeviceGraphs {
   public:
    std::unique_ptr<DeviceGraph> create() override { return std::make_unique<Measured>(); }
  };
  std::vector<RunConfig> runs = runs_of("alibi", 1);
  runs.front().training.last_length = 9;
  const Trained eager = trained(runs, false);
  EXPECT_LT(std::set<std::int64_t>(eager.lengths.begin(), eager.lengths.end()).size(), 8U);
  const OtherGraphs others([]() -> std::unique_ptr<DeviceGraphs> { return std::make_unique<AllMeasured>(); });
  bytes.clear();
  const Trained replayed = trained(runs, true);
  expect_equal_bits(eager, replayed);
  EXPECT_EQ(8U, replayed.graphs);
  ASSERT_EQ(8U, bytes.size());
  EXPECT_TRUE(std::ranges::is_sorted(bytes, std::greater()));
  EXPECT_GT(bytes.front(), 2 * bytes.back());
}

TEST(StepGraphs, StartOneThingAStep) {
  for (const char* encoding : {"alibi", "randomized_rope"}) {
    std::vector<RunConfig> runs = runs_of(encoding, 2);
    set_graphs(runs, true);
    TrainingState state(runs, on_the_device());
    SequenceBatch batch;
    runs.front().training.first_length = 3;
    create_workload(runs.front())->training_batch(0, batch);
    const auto step = [&] {
      reset_device_counts();
      state.make_step(batch);
      return device_counts();
    };
    EXPECT_EQ(0, step().replays);
    EXPECT_EQ(1, step().replays);
    for (int i = 0; i < 3; ++i) {
      const DeviceCounts counts = step();
      EXPECT_EQ(1, counts.replays);
      // What the step reads, at once, and a copy of what it measured.
      EXPECT_EQ(1, counts.to_device);
      EXPECT_EQ(0, counts.pageable);
      EXPECT_EQ(1, counts.operations);
      EXPECT_EQ(0, counts.to_host);
      EXPECT_EQ(0, counts.scalars);
    }
  }
}

// Dropout that no kernel serves is drawn by the host, also for a replay.
TEST(StepGraphs, ReplayMasksThatTheHostDraws) {
  KernelTable without_dropout = emulated_kernels();
  without_dropout.dropout.serves = [](std::int64_t, std::int64_t) { return false; };
  without_dropout.residual_norm.serves = [](std::int64_t, std::int64_t, bool) { return false; };
  const OtherKernels others(without_dropout);
  const std::vector<RunConfig> runs = runs_of("sin_cos", 1);
  expect_equal_bits(trained(runs, false), trained(runs, true));
}

// Library operations take the place of kernels that do not serve.
TEST(StepGraphs, ReplayWhatNoKernelServes) {
  KernelTable without = emulated_kernels();
  without.embedding.serves = [](std::int64_t, std::int64_t) { return false; };
  without.batch_score.serves = [](std::int64_t) { return false; };
  const std::vector<RunConfig> runs = runs_of("sin_cos", 2);
  const Trained with_kernels = trained(runs, false);
  const OtherKernels others(without);
  const Trained eager = trained(runs, false);
  expect_equal_bits(eager, trained(runs, true));
  const auto are_equal = [](const at::Tensor& a, const at::Tensor& b) { return at::equal(a, b); };
  EXPECT_FALSE(std::ranges::equal(with_kernels.tensors, eager.tensors, are_equal)) << "the kernels served";
}

// Stopped after some steps and trained on, with the graphs that there are, and in a new process from what a
// checkpoint holds.
TEST(StepGraphs, GoOnAfterAStop) {
  std::vector<RunConfig> runs = runs_of("randomized_alibi", 2);
  const Trained eager = trained(runs, false);
  set_graphs(runs, true);
  for (RunConfig& run : runs) run.log.every_steps = 4;
  TrainingState stopped(runs, on_the_device());
  expect_equal_bits(eager, trained_on(stopped, true));

  std::vector<RunConfig> first_part = runs;
  for (RunConfig& run : first_part) run.training.steps = 5;
  TrainingState first(first_part, on_the_device());
  const Trained before = trained_on(first);
  TrainingState second(runs, on_the_device());
  second.step = first.step;
  second.model->parameters().values().copy_(first.model->parameters().values());
  second.adam.first_moment.copy_(first.adam.first_moment);
  second.adam.second_moment.copy_(first.adam.second_moment);
  const Trained after = trained_on(second);
  Trained both = after;
  both.results.insert(both.results.begin(), before.results.begin(), before.results.end());
  both.lengths.insert(both.lengths.begin(), before.lengths.begin(), before.lengths.end());
  expect_equal_bits(eager, both);
}

// A checkpoint is restored into tensors that graphs know.
TEST(StepGraphs, ReadWhatIsCopiedIntoParameters) {
  std::vector<RunConfig> runs = runs_of("alibi", 1);
  const Trained eager = trained(runs, false);
  set_graphs(runs, true);
  TrainingState state(runs, on_the_device());
  const at::Tensor start = state.model->parameters().values().clone();
  trained_on(state);
  state.step = 0;
  state.model->parameters().values().copy_(start);
  state.adam.first_moment.zero_();
  state.adam.second_moment.zero_();
  expect_equal_bits(eager, trained_on(state));
}

// A replica whose loss is no number changes no other.
TEST(StepGraphs, LeaveOtherReplicasAloneWhereOneFails) {
  std::vector<RunConfig> runs = runs_of("kerple", 3);
  const auto first_values = [&](bool graphs) {
    set_graphs(runs, graphs);
    TrainingState state(runs, on_the_device());
    state.model->parameters().values()[1].fill_(NAN);
    const Trained all = trained_on(state);
    EXPECT_TRUE(std::isnan(all.results.back()[1]));
    EXPECT_TRUE(std::isfinite(all.results.back()[0]));
    return std::vector{all.tensors[0][0], all.tensors[0][2]};
  };
  const auto eager = first_values(false);
  const auto replayed = first_values(true);
  for (std::size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(has_equal_bits(eager[i], replayed[i]));
}

// An error within a capture is told, and the capture is over.
TEST(StepGraphs, EndACaptureThatFails) {
  KernelTable broken = emulated_kernels();
  broken.adam.update = [](const KernelCall& call, const AdamOperands& operands,
                          const AdamSettings& settings) {
    if (FakeGraph* const graph = FakeGraph::capturing()) {
      graph->invalidate();
      return 101;
    }
    return emulated_kernels().adam.update(call, operands, settings);
  };
  const std::vector<RunConfig> runs = runs_of("alibi", 1);
  const auto message = [&] {
    const OtherKernels others(broken);
    return message_of([&] { trained(runs, true); });
  };
  EXPECT_EQ("Adam: CUDA error 101: invalid device ordinal", message());
  EXPECT_EQ(nullptr, FakeGraph::capturing());
  expect_equal_bits(trained(runs, false), trained(runs, true));
  // The first error is told though the end of the capture fails, too.
  class Failing : public DeviceGraph {
   public:
    void begin() override { graph_->begin(); }
    void end() override {
      graph_->end();
      throw std::runtime_error("the capture failed");
    }
    void replay() override { graph_->replay(); }

   private:
    std::unique_ptr<DeviceGraph> graph_ = open_device_graphs(CHE_STAND_IN_GRAPHS)()->create();
  };
  class AllFailing : public DeviceGraphs {
   public:
    std::unique_ptr<DeviceGraph> create() override { return std::make_unique<Failing>(); }
  };
  const OtherGraphs others([]() -> std::unique_ptr<DeviceGraphs> { return std::make_unique<AllFailing>(); });
  EXPECT_EQ("Adam: CUDA error 101: invalid device ordinal", message());
  EXPECT_THROW(trained(runs, true), std::runtime_error);
  EXPECT_EQ(nullptr, FakeGraph::capturing());
}

TEST(StepGraphs, AreTimedAfterTheCapture) {
  std::vector<RunConfig> runs = runs_of("alibi", 1);
  set_graphs(runs, true);
  reset_device_counts();
  const StepCost cost = measure_step(runs.front(), 3, {.steps = 3, .warm_up = 1}, on_the_device());
  EXPECT_GT(cost.seconds, 0);
  // The warm-up's second step and the timed ones.
  EXPECT_EQ(4, device_counts().replays);
}

}  // namespace
}  // namespace che
