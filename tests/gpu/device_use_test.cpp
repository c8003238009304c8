// These tests use a device without computing other values on it: gradients, memory, lock-step, estimates of
// time.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/learn/training.h"
#include "experiments/measure/cost.h"
#include "experiments/measure/replica_choice.h"
#include "experiments/measure/step_benchmark.h"
#include "experiments/plan/identity.h"
#include "models/parameters/adam.h"
#include "tests/gpu/device_backend.h"
#include "tests/gpu/fake_device.h"
#include "tests/gpu/started_kernels.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

RunConfig small_run() {
  RunConfig config;
  config.task.reset("reverse_string");
  config.encoding.reset("alibi");
  config.model.shape() = {.width = 16, .layers = 2, .heads = 2, .ffn_multiple = 2};
  config.training = {.steps = 150, .batch_size = 32, .first_length = 2, .last_length = 9};
  config.evaluation = {.first_length = 10, .last_length = 11, .length_step = 1, .samples = 64};
  config.execution.graphs = false;  // step_graphs_test.cpp is for graphs.
  return config;
}

// However many parameters there are: one operation collects their gradients, and three kernels have the norms
// (sums of parts, then of these) and the update. Nothing is set to zero.
TEST(GradientsOnADevice, AreOneTensorForNormsAndUpdate) {
  for (const std::int64_t count : {1, 7, 40}) {
    std::vector<ParameterSpec> specs;
    for (std::int64_t i = 0; i < count; ++i) {
      specs.push_back({"p" + std::to_string(i), {i % 3 + 1, 2}, Init::normal(1)});
    }
    const Backend backend = on_the_device(Kernels::kFused);
    ParameterSet parameters(specs, 2, backend.options);
    parameters.initialise(std::vector<std::int64_t>{1, 2});
    Adam adam(parameters, {1e-2, 1e-3}, {.clip_norm = 1}, backend);
    at::Tensor sum = parameters["p0"].square().sum();
    for (std::int64_t i = 1; i < count; ++i) sum = sum + parameters["p" + std::to_string(i)].square().sum();
    sum.backward();
    const at::Tensor expected = (2 * parameters.values().detach()).to(at::kCPU);
    const std::int64_t kernels = gpu::started_kernels();
    reset_device_counts();
    parameters.collect_gradients();
    EXPECT_EQ(1, device_counts().operations) << count << " parameters";
    adam.update(parameters, 0);
    EXPECT_EQ(1, device_counts().operations) << count << " parameters";
    EXPECT_EQ(3, gpu::started_kernels() - kernels) << count << " parameters";
    EXPECT_TRUE(at::equal(expected, parameters.gradients().to(at::kCPU))) << count << " parameters";
  }
}

TEST(GradientsOnADevice, AreZeroWhereBackwardLeavesNone) {
  ParameterSet parameters({{"used", {3}, Init::constant(1)}, {"unused", {2}, Init::constant(1)}}, 2,
                          on_the_device(Kernels::kFused).options);
  parameters.initialise(std::vector<std::int64_t>{1, 2});
  for (int step = 0; step < 2; ++step) {
    parameters.gradients().fill_(7);
    (parameters["used"] * 3).sum().backward();
    parameters.collect_gradients();
    const at::Tensor expected = at::tensor({3, 3, 3, 0, 0}, at::kFloat).expand({2, 5});
    EXPECT_TRUE(at::equal(expected, parameters.gradients().to(at::kCPU))) << "step " << step;
  }
}

TEST(DeviceMemory, HasAPeakThatCanBeResetAndWhatIsFree) {
  const double free = free_device_bytes(fake_device());
  reset_peak_device_bytes(fake_device());
  const double before = peak_device_bytes(fake_device());
  {
    const at::Tensor large = at::empty({1 << 20}, on_the_device(Kernels::kFused).options);
    EXPECT_EQ(free - (4 << 20), free_device_bytes(fake_device()));
  }
  EXPECT_EQ(before + (4 << 20), peak_device_bytes(fake_device()));
  EXPECT_EQ(free, free_device_bytes(fake_device()));
  reset_peak_device_bytes(fake_device());
  EXPECT_EQ(before, peak_device_bytes(fake_device()));
}

TEST(MeasuringSteps, TellsTimeAndPeakMemoryOfADevice) {
  RunConfig config = small_run();
  config.training.batch_size = 2;
  const auto peak = [&](std::int64_t replicas) {
    config.execution.replicas = replicas;
    const StepCost cost = measure_step(config, 2, {.steps = 2, .warm_up = 1}, on_the_device(Kernels::kFused));
    EXPECT_GT(cost.seconds, 0);
    return cost.peak_bytes;
  };
  // Parameters, gradients and two moments at least; and nothing like the process' own memory.
  const double one = peak(1);
  EXPECT_GT(one, 16.0 * static_cast<double>(parameter_count(config)));
  EXPECT_LT(one, 64 << 20);
  EXPECT_GT(peak(3), 2 * one);
}

// What is scaled from steps of 8 and of 32 examples, beside what whole batches take.
TEST(ReplicaChoice, KnowsWhatARunTakes) {
  RunConfig config = small_run();
  config.training.batch_size = 96;
  const Backend backend = on_the_device(Kernels::kReference);
  const double estimate = bytes_of_a_run(config, backend);
  for (const std::int64_t replicas : {1, 3}) {
    RunConfig job = config;
    job.execution.replicas = replicas;
    // The measured peak has the operands of a matrix product, too, which no training has.
    const auto length = static_cast<double>(2 * config.training.last_length);
    const double product =
        4 * length * static_cast<double>(config.training.batch_size * 5 * config.model.shape().width) +
        16 * static_cast<double>(config.model.shape().width * config.model.shape().width);
    const double before = peak_device_bytes(fake_device());
    reset_peak_device_bytes(fake_device());
    const double held = peak_device_bytes(fake_device());
    EXPECT_LE(held, before);
    const double peak =
        measure_step(job, config.training.last_length, {.steps = 1, .warm_up = 1}, backend).peak_bytes -
        held - product;
    EXPECT_NEAR(1, peak / (estimate * static_cast<double>(replicas)), 0.1) << replicas;
  }
}

TEST(ReplicaChoice, FillsMemoryOrTheDevice) {
  RunConfig config = small_run();
  const Backend backend = on_the_device(Kernels::kReference);
  const double one = bytes_of_a_run(config, backend);
  const auto most = [&](double runs) { return most_replicas(config, backend, runs * one / 0.8); };
  EXPECT_EQ(1, most(0.1));
  EXPECT_EQ(1, most(1.5));
  EXPECT_EQ(5, most(5.5));
  // Fused dropout serves 64.
  EXPECT_EQ(64, most(1e6));
  // A step that is as long as a full device's.
  const double step = training_step_operations(config);
  config.training.batch_size = static_cast<std::int64_t>(32 * kFullOperations / (3.5 * step));
  const double large = bytes_of_a_run(config, backend);
  EXPECT_EQ(4, most_replicas(config, backend, 100 * large));
  EXPECT_EQ(2, most_replicas(config, backend, 2.5 * large / 0.8));
}

std::vector<RunConfig> sweep_of(std::int64_t seeds) {
  std::vector<RunConfig> runs;
  for (const char* encoding : {"alibi", "rope"}) {
    for (std::int64_t seed = 0; seed < seeds; ++seed) {
      RunConfig& run = runs.emplace_back(small_run());
      run.encoding.reset(encoding);
      run.seed = seed;
      run.execution.replicas = kAutoReplicas;
    }
  }
  return runs;
}

TEST(ReplicaChoice, MakesNoJobLargerThanItsGroupNeedsAndChangesNoRun) {
  std::vector<RunConfig> runs = sweep_of(10);
  runs[0].execution.replicas = 2;  // Chosen by the config.
  const std::vector<RunConfig> before = runs;
  std::vector<std::int64_t> most;
  for (const RunConfig& run : runs) most.push_back(run.encoding.name == "rope" ? 64 : 4);
  share_out_replicas(runs, most);
  EXPECT_EQ(2, runs[0].execution.replicas);
  for (std::size_t i = 1; i < 10; ++i)
    EXPECT_EQ(3, runs[i].execution.replicas) << i;  // Of 9 runs, not 4, 4, 1.
  for (std::size_t i = 10; i < 20; ++i) EXPECT_EQ(10, runs[i].execution.replicas) << i;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(run_id(before[i]), run_id(runs[i]));
    EXPECT_EQ(cell_id(before[i]), cell_id(runs[i]));
  }
}

TEST(ReplicaChoice, WaitsForTheDeviceAndIsOneOnACpu) {
  std::vector<RunConfig> runs = sweep_of(2);
  for (RunConfig& run : runs) run.execution.device = "cuda";
  share_out_replicas(runs, std::vector<std::int64_t>(runs.size(), 0));
  for (const RunConfig& run : runs) EXPECT_EQ(kAutoReplicas, run.execution.replicas);
  for (RunConfig& run : runs) run.execution.device = "cpu";
  choose_replicas(runs, [](const std::vector<RunConfig>& measured) {
    EXPECT_EQ(2U, measured.size()) << "a seed needs no measurement of its own";
    std::vector<std::int64_t> most;
    for (const RunConfig& run : measured) most.push_back(most_replicas(run, 0));
    return most;
  });
  for (const RunConfig& run : runs) EXPECT_EQ(RunConfig().execution.replicas, run.execution.replicas);
}

TEST(TimeOnGpus, IsOfMeasuredStepsOfTheDevice) {
  const ScratchFolder scratch;
  std::vector<RunConfig> runs(2, small_run());
  runs[1].seed = 1;
  for (RunConfig& run : runs) run.execution.device = "cuda";
  const ComputingDevice device{
      .device = fake_device(), .description = "cuda (emulated, fp32)", .gpu = emulated_gpu()};
  reset_device_counts();
  const WorkEstimate work = estimate_work(runs, scratch.path(), /*retrain=*/false, device);
  EXPECT_GT(device_counts().operations, 0);
  EXPECT_EQ(0U, work.unmeasured);
  ASSERT_EQ(1U, work.by_device.size());
  const double seconds = work.by_device.at("cuda (emulated, fp32)");
  EXPECT_GT(seconds, 0);
  EXPECT_EQ(work.seconds, seconds);
  WorkEstimate hours;
  hours.by_device["cuda (emulated, fp32)"] = 2.5 * 3600;
  hours.by_device["cpu"] = 1;
  EXPECT_EQ("GPU: 2.5 h of one cuda (emulated, fp32), 75 min on 2 GPUs, by measured steps",
            gpu_time_text(runs, hours, {"0", "3"}));
  EXPECT_EQ("GPU: 2.5 h of one cuda (emulated, fp32), by measured steps", gpu_time_text(runs, hours, {"0"}));
  hours.by_device["cuda (emulated, fp32)"] = 120.0 * 3600;
  EXPECT_EQ("GPU: 120 h of one cuda (emulated, fp32), by measured steps", gpu_time_text(runs, hours, {"0"}));
  EXPECT_EQ("GPU: no time was measured, because no GPU is visible here", gpu_time_text(runs, {}, {}));
  EXPECT_EQ("GPU: no time was measured", gpu_time_text(runs, {}, {"0"}));
  for (RunConfig& run : runs) run.execution.device = "cpu";
  EXPECT_EQ("", gpu_time_text(runs, hours, {"0"}));
}

TEST(ParametersOnADevice, BeginAtAlignedReplicas) {
  const Backend backend = on_the_device(Kernels::kFused);
  const ParameterSet parameters({{"a", {2}, {}}, {"b", {65}, {}}}, 3, backend.options);
  EXPECT_EQ(67, parameters.size());
  EXPECT_EQ(128, parameters.values().stride(0));
  EXPECT_EQ(128, parameters["b"].stride(0));
  EXPECT_TRUE(parameters.gradients().is_contiguous());
}

TEST(AttentionOnADevice, IsComposedWhereABlockHasTooLittleSharedMemory) {
  RunConfig config;
  config.encoding.reset("dape_kerple");
  AttentionKernels kernels = emulated_kernels().attention;
  EXPECT_FALSE(composes_attention(config, kernels));
  config.model.shape().width = 1024;
  EXPECT_TRUE(composes_attention(config, kernels));
  config.model.shape().width = 256;
  // As little as serves all but f's backward.
  kernels.serves = [](const AttentionShape& shape, bool has_gradients) {
    return shape.hidden == 0 || !has_gradients;
  };
  EXPECT_TRUE(composes_attention(config, kernels));
  config.encoding.reset("kerple");
  EXPECT_FALSE(composes_attention(config, kernels));
}

}  // namespace
}  // namespace che
