#include "experiments/training/replica_choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/error.h"
#include "core/resources.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/operations.h"
#include "experiments/schedule/devices.h"
#include "experiments/training/model_factory.h"
#include "experiments/training/out_of_memory.h"
#include "experiments/training/step_benchmark.h"
#include "experiments/training/tensor_batch.h"
#include "experiments/training/training.h"
#include "models/device_memory.h"
#include "models/memory_probe.h"
#include "tasks/task.h"

namespace che {
namespace {

// The rest is for CUDA's context, for what libraries take, and for blocks that fit no later tensor.
constexpr double kMemoryShare = 0.8;

// Fused dropout of a GPU serves so many.
constexpr std::int64_t kMaxReplicas = kMaxDropoutReplicas;

// The training length of the longest sequence.
std::int64_t longest_length(const RunConfig& config) {
  const auto task = create_task(config.task);
  std::int64_t longest = config.training.first_length;
  for (std::int64_t length = longest; length <= config.training.last_length; ++length) {
    const auto tokens = [&](std::int64_t of) { return task->input_length(of) + task->output_length(of); };
    if (tokens(length) > tokens(longest)) longest = length;
  }
  return longest;
}

// A training step of `examples` examples at the only training length.
void make_step(TrainingState& state, const Task& task, std::int64_t examples) {
  const RunConfig& config = state.runs.front();
  const auto number = static_cast<std::uint64_t>(state.step);
  Batch batch;
  sample_batch(task, {0, Purpose::kData, number}, config.training.last_length, examples, batch);
  const auto positions = create_positions(config, config.data_seed, Purpose::kPositions, number);
  wait_for(state.make_step(batch, positions));
}

bool is_here(const RunConfig& config) {
  try {
    check_devices({config});
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

double bytes_of_a_run(const RunConfig& config, const Backend& backend) {
  constexpr std::int64_t kFew = 8;
  constexpr std::int64_t kMore = 32;          // At the peak, activations outweigh parameters.
  constexpr double kTensorsOfParameters = 4;  // Values, gradients and two moments.
  RunConfig longest = config;
  longest.training.first_length = longest.training.last_length = longest_length(config);
  longest.execution.replicas = 1;
  longest.execution.graphs = false;
  TrainingState state({longest}, backend);
  const auto task = create_task(config.task);
  const auto bytes = [&](std::int64_t examples) {
    return static_cast<double>(
        peak_tensor_bytes([&] { make_step(state, *task, examples); }, backend.device().type()));
  };
  // What a device allocates once and keeps, such as tables, is no part of what an example takes.
  make_step(state, *task, 1);
  const std::int64_t batch = config.training.batch_size;
  double step = bytes(std::min(batch, kFew));
  if (batch > kFew) {
    const std::int64_t more = std::min(batch, kMore);
    const double of_an_example = std::max(0.0, bytes(more) - step) / static_cast<double>(more - kFew);
    step += of_an_example * static_cast<double>(batch - kFew);
  }
  // Graphs keep the memory of their steps, while the first step of a shape has memory of its own.
  if (config.execution.graphs) step *= 2;
  return kTensorsOfParameters * sizeof(float) * static_cast<double>(parameter_count(config)) + step;
}

std::int64_t most_replicas(const RunConfig& config, const Backend& backend, double bytes) {
  const double by_work = std::ceil(kFullOperations / training_step_operations(config));
  double by_memory = 1;
  try {
    by_memory = std::floor(kMemoryShare * bytes / bytes_of_a_run(config, backend));
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
  }
  const double most = std::clamp(std::min(by_work, by_memory), 1.0, static_cast<double>(kMaxReplicas));
  return static_cast<std::int64_t>(most);
}

std::int64_t most_replicas(const RunConfig& config, std::int64_t workers) {
  const Backend backend = backend_of(config.execution);
  if (backend.device().is_cpu()) return 1;
  return most_replicas(config, backend, free_device_bytes(backend.device()) / static_cast<double>(workers));
}

void choose_replicas(std::vector<RunConfig>& runs, const std::function<bool(const RunConfig&)>& has_device,
                     const std::function<std::int64_t(const RunConfig&)>& most) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].execution.replicas == kAutoReplicas) groups[job_key(runs[i])].push_back(i);
  }
  // Tasks with sequences of equal length share a measurement.
  std::map<std::string, std::int64_t> known;
  for (const auto& [key, members] : groups) {
    const RunConfig& first = runs[members.front()];
    if (!has_device(first)) continue;
    RunConfig shape = first;
    shape.task = {};
    shape.seed = shape.data_seed = 0;
    shape.learning_rate = RunConfig{}.learning_rate;
    const std::string text = to_yaml(shape) + std::to_string(first.longest_training_sequence()) + " " +
                             std::to_string(training_step_operations(first));
    auto found = known.find(text);
    if (found == known.end()) found = known.emplace(text, most(first)).first;
    const auto count = static_cast<std::int64_t>(members.size());
    const std::int64_t jobs = (count + found->second - 1) / found->second;
    for (const std::size_t i : members) runs[i].execution.replicas = (count + jobs - 1) / jobs;
  }
}

void choose_replicas(std::vector<RunConfig>& runs, std::int64_t asked) {
  const std::vector<std::string> visible = available_resources().gpus;
  choose_replicas(runs, is_here, [&](const RunConfig& config) {
    const auto gpus =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(gpus_of(config.execution, visible).size()));
    return most_replicas(config, std::max<std::int64_t>(1, (asked + gpus - 1) / gpus));
  });
}

}  // namespace che
