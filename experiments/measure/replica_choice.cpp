#include "experiments/measure/replica_choice.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>

#include "core/resources.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/learn/training.h"
#include "experiments/measure/step_benchmark.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/operations.h"
#include "experiments/plan/run_workload.h"
#include "experiments/schedule/devices.h"
#include "models/ops/dropout/dropout_kernels.h"

namespace che {
namespace {

// The rest is left to CUDA's context, to libraries, and to blocks that fit no later tensor.
constexpr double kMemoryShare = 0.8;

// The peak of a training step of `examples` examples of the longest sequence, on `backend`.
double peak_of_a_step(TrainingState& state, std::int64_t examples) {
  RunConfig config = state.runs.front();
  config.training.batch_size = examples;
  SequenceBatch batch;
  create_workload(config)->training_batch(state.step, batch);
  return static_cast<double>(
      peak_tensor_bytes([&] { wait_for(state.make_step(batch)); }, state.model->backend().device().type()));
}

}  // namespace

double bytes_of_a_run(const RunConfig& config, const Backend& backend) {
  constexpr std::int64_t kFew = 8;
  constexpr std::int64_t kMore = 32;          // At the peak, activations outweigh parameters.
  constexpr double kTensorsOfParameters = 4;  // Values, gradients and two moments.
  RunConfig longest = config;
  longest.training.first_length = longest.training.last_length =
      create_workload(config)->longest_training_length();
  longest.execution.replicas = 1;
  longest.execution.graphs = false;
  TrainingState state({longest}, backend);
  // A first step, so that tables and the like, which a device keeps, count for no example.
  peak_of_a_step(state, 1);
  const std::int64_t batch = config.training.batch_size;
  double step = peak_of_a_step(state, std::min(batch, kFew));
  if (batch > kFew) {
    const std::int64_t more = std::min(batch, kMore);
    const double of_an_example =
        std::max(0.0, peak_of_a_step(state, more) - step) / static_cast<double>(more - kFew);
    step += of_an_example * static_cast<double>(batch - kFew);
  }
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
  const double most = std::clamp(std::min(by_work, by_memory), 1.0, static_cast<double>(kMaxDropoutReplicas));
  return static_cast<std::int64_t>(most);
}

std::int64_t most_replicas(const RunConfig& config, std::int64_t workers) {
  const Backend backend = backend_of(config.execution);
  if (backend.device().is_cpu()) return 1;
  const auto gpus =
      std::max<std::int64_t>(1, std::ssize(gpus_of(config.execution, available_resources().gpus)));
  const std::int64_t of_a_gpu = std::max<std::int64_t>(1, (workers + gpus - 1) / gpus);
  return most_replicas(config, backend, free_device_bytes(backend.device()) / static_cast<double>(of_a_gpu));
}

void share_out_replicas(std::vector<RunConfig>& runs, const std::vector<std::int64_t>& most) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].execution.replicas == kAutoReplicas && most[i] > 0) groups[job_key(runs[i])].push_back(i);
  }
  for (const auto& [key, members] : groups) {
    const auto count = static_cast<std::int64_t>(members.size());
    const std::int64_t limit = most[members.front()];
    const std::int64_t jobs = (count + limit - 1) / limit;
    for (const std::size_t i : members) runs[i].execution.replicas = (count + jobs - 1) / jobs;
  }
}

void choose_replicas(std::vector<RunConfig>& runs, const MeasureReplicas& measure) {
  // Tasks with sequences of equal length share a measurement.
  std::map<std::string, std::size_t> numbers;
  std::vector<RunConfig> measured;
  std::map<std::size_t, std::size_t> measurement_of;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunConfig& run = runs[i];
    if (run.execution.replicas != kAutoReplicas || !has_device(run)) continue;
    RunConfig shape = run;
    shape.task = {};
    shape.seed = shape.data_seed = 0;
    shape.learning_rate = RunConfig{}.learning_rate;
    const std::string key = to_yaml(shape) + std::to_string(run.longest_training_sequence()) + " " +
                            std::to_string(training_step_operations(run));
    const auto [number, is_new] = numbers.try_emplace(key, measured.size());
    if (is_new) measured.push_back(run);
    measurement_of[i] = number->second;
  }
  std::vector<std::int64_t> most(runs.size(), 0);
  const std::vector<std::int64_t> found = measured.empty() ? std::vector<std::int64_t>{} : measure(measured);
  for (const auto& [run, number] : measurement_of) most[run] = found.at(number);
  share_out_replicas(runs, most);
}

}  // namespace che
