#include "experiments/measure/cost.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/files.h"
#include "core/resources.h"
#include "core/text.h"
#include "experiments/learn/batches.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/training.h"
#include "experiments/measure/replica_choice.h"
#include "experiments/measure/step_benchmark.h"
#include "experiments/plan/run_workload.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/time_left.h"
#include "experiments/store/run_folder.h"

namespace che {
namespace {

// Operations of a measured step: enough to hide the cost of starting them, few enough to wait for.
constexpr double kMeasuredOperations = 1e10;

// Timed steps of training, and of evaluation.
constexpr std::int64_t kMeasuredSteps = 5;

// Seconds per nominal operation if an example takes `operations`. A GPU computes whole batches, because a
// part of one would not keep it busy.
double seconds_per_operation(const RunConfig& config, std::int64_t length, bool evaluate, double operations,
                             const Backend& backend) {
  const double of_an_example = operations * static_cast<double>(config.execution.replicas);
  const auto examples = static_cast<std::int64_t>(std::max(1.0, kMeasuredOperations / of_an_example));
  const StepCost cost = measure_step(config, length,
                                     {.evaluate = evaluate,
                                      .steps = kMeasuredSteps,
                                      .most_examples = backend.device().is_cpu() ? examples : 0},
                                     backend);
  return cost.seconds / cost.operations;
}

// Measures what is left of a run. If that takes too much memory, it sets `unmeasured` and returns false.
bool measure(RunEstimate& run, const RunConfig& config, CostEstimate& cost, double memory_bytes) {
  // Parameters, their gradients and Adam's two moments, in single precision. Activations come on top.
  const double bytes = 4.0 * sizeof(float) * static_cast<double>(run.parameters * config.execution.replicas);
  if (bytes > memory_bytes) {
    run.unmeasured = fmt::format("training needs at least {:.3g} GiB and {:.3g} GiB are available",
                                 bytes / 0x1p30, memory_bytes / 0x1p30);
    return false;
  }
  try {
    run.seconds = cost.seconds(config, run.needs.left);
    return true;
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    run.unmeasured = failure_text(error);
    return false;
  }
}

// The memory that this process has in RAM.
double resident_bytes() {
  std::istringstream pages(read_file("/proc/self/statm"));
  double all = 0;
  double resident = 0;
  pages >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// Returns a text that is equal for runs whose steps cost the same, except for how long their tasks' sequences
// are.
std::string shape_of(const RunConfig& config) {
  RunConfig shape = config;
  shape.task = {};
  shape.seed = shape.data_seed = 0;
  shape.learning_rate = RunConfig{}.learning_rate;
  // Speed depends on the lengths: at short ones the cost of starting operations tells.
  shape.training = {.batch_size = config.training.batch_size,
                    .first_length = config.training.first_length,
                    .last_length = config.training.last_length};
  shape.evaluation = {.first_length = config.evaluation.first_length,
                      .last_length = config.evaluation.last_length,
                      .listed_lengths = config.evaluation.listed_lengths,
                      .of_text = config.evaluation.of_text,
                      .text = config.evaluation.text};
  return to_yaml(shape);
}

// The peak of an evaluation at the longest test length, split as execution.memory_gib asks.
double evaluation_bytes(const RunConfig& config, const Backend& backend) {
  const c10::NoGradGuard no_grad;
  const TrainingState state({config}, backend);
  SequenceBatch batch;
  const std::vector<std::int64_t> lengths = config.evaluation.lengths();
  create_workload(config)->evaluation_batch(*std::ranges::max_element(lengths), 0, 2, batch);
  const auto positions = create_positions(config, 0, Purpose::kEvaluationPositions, 0, 0);
  const Dropout dropout{.seeds = {config.seed}, .purpose = Purpose::kEvaluationDropout};
  const auto peak = [&](std::int64_t examples) {
    return static_cast<double>(peak_tensor_bytes([&] {
      predict_rows(*state.model, batch, 0, examples,
                   {.positions = positions, .dropout = dropout, .is_evaluation = true},
                   {.losses = !batch.windows.empty()});
    }));
  };
  const double one = peak(1);
  const double all = one + static_cast<double>(kEvaluationBatch - 1) * std::max(0.0, peak(2) - one);
  return std::min(all, std::max(one, config.execution.memory_gib * 0x1p30));
}

// The predictions of the longest test length, which are held until they are stored: a byte each.
double prediction_bytes(const RunConfig& config) {
  if (!config.evaluation.predictions) return 0;
  const std::vector<std::int64_t> lengths = config.evaluation.lengths();
  const std::int64_t outputs = create_task(config.task)->output_length(*std::ranges::max_element(lengths));
  return static_cast<double>(config.evaluation.samples) * static_cast<double>(outputs);
}

}  // namespace

double job_memory_bytes(const std::vector<RunConfig>& runs) {
  // A checkpoint has three tensors of the parameters' size, which are held twice, beside a copy of one.
  constexpr double kSavedTensors = 7;
  const double before = resident_bytes();
  // The run with the longest sequence of each shape, and that sequence's tokens.
  std::map<std::string, std::pair<std::int64_t, const RunConfig*>> longest;
  for (const RunConfig& run : runs) {
    const std::pair candidate{run.longest_sequence(), &run};
    auto& known = longest[shape_of(run)];
    if (candidate.first > known.first) known = candidate;
  }
  double kept = 0;  // Beside tensors.
  for (const RunConfig& run : runs) {
    const double replicas = static_cast<double>(std::max<std::int64_t>(1, run.execution.replicas));
    kept = std::max(kept, create_workload(run)->training_bytes() + replicas * prediction_bytes(run));
  }
  double most = 0;
  for (const auto& [shape, measured] : longest) {
    const RunConfig* const run = measured.second;
    const ThreadLimit limit(run->execution.threads);
    RunConfig alone = *run;
    alone.execution.device = "cpu";
    const Backend backend = backend_of(alone.execution);
    alone.execution.graphs = false;
    alone.execution.replicas = 1;
    const double replicas = static_cast<double>(std::max<std::int64_t>(1, run->execution.replicas));
    const double computing =
        replicas * std::max(bytes_of_a_run(alone, backend), evaluation_bytes(alone, backend));
    most = std::max(most,
                    computing + kSavedTensors * sizeof(float) * static_cast<double>(parameter_count(alone)));
  }
  return most + kept + before;
}

CostEstimate::Speed CostEstimate::measure(const RunConfig& config) const {
  const Backend backend = backend_ ? *backend_ : backend_of(config.execution);
  const ThreadLimit limit(config.execution.threads);
  RunConfig middle = config;
  TrainingConfig& training = middle.training;
  training.first_length = training.last_length = (training.first_length + training.last_length) / 2;
  EvaluationConfig& evaluation = middle.evaluation;
  const std::vector<std::int64_t> lengths = evaluation.lengths();
  evaluation.listed_lengths.clear();
  evaluation.first_length = evaluation.last_length = lengths[(lengths.size() - 1) / 2];
  const double step_operations = training_step_operations(middle);
  return {
      .training = seconds_per_operation(middle, training.last_length, false,
                                        step_operations / static_cast<double>(training.batch_size), backend),
      .evaluation = seconds_per_operation(
          middle, evaluation.last_length, true,
          run_operations(middle).evaluation / static_cast<double>(evaluation.samples), backend)};
}

double CostEstimate::seconds(const RunConfig& config, const Operations& work) {
  const std::string text = shape_of(config);
  auto speed = speeds_.find(text);
  if (speed == speeds_.end()) speed = speeds_.emplace(text, measure(config)).first;  // Which may throw.
  return work.training * speed->second.training + work.evaluation * speed->second.evaluation;
}

WorkEstimate estimate_work(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment,
                           bool retrain, const std::optional<ComputingDevice>& device) {
  const double memory_bytes = available_resources().memory_bytes;
  CostEstimate cost;
  if (device)
    cost = CostEstimate(
        Backend{Kernels::kFused, at::TensorOptions().dtype(at::kFloat).device(device->device), device->gpu});
  const StoredRuns stored(experiment);
  WorkEstimate all;
  for (const RunConfig& config : runs) {
    RunEstimate& run = all.runs.emplace_back();
    run.parameters = parameter_count(config);
    const RunFolder folder = RunFolder::at(experiment, config);
    run.needs = assess(folder, stored);
    if (retrain && run.needs.may_be_retrained()) run.needs = assess_anew(folder, stored);
    if (run.needs.left.all() > 0) {
      std::optional<ComputingDevice> used = device;
      try {
        if (!used) {
          check_devices({config});
          used = open_device(config.execution);
        }
      } catch (const Error& error) {
        run.unmeasured = error.what();
      }
      const double limit =
          used && used->gpu ? static_cast<double>(used->gpu->description.memory_bytes) : memory_bytes;
      if (used && measure(run, config, cost, limit)) all.by_device[used->description] += run.seconds;
    }
    all.complete += run.needs.is_complete() ? 1U : 0U;
    all.unmeasured += run.unmeasured.empty() ? 0U : 1U;
    all.left.training += run.needs.left.training;
    all.left.evaluation += run.needs.left.evaluation;
    all.seconds += run.seconds;
  }
  return all;
}

std::string gpu_time_text(const std::vector<RunConfig>& runs, const WorkEstimate& work,
                          const std::vector<std::string>& visible) {
  std::set<std::int64_t> gpus;
  bool can_be_on_gpu = false;
  for (const RunConfig& run : runs) {
    can_be_on_gpu |= may_use_gpu(run);
    for (const std::int64_t gpu : gpus_of(run.execution, visible)) gpus.insert(gpu);
  }
  if (!can_be_on_gpu) return "";
  if (visible.empty()) return "GPU: no time was measured, because no GPU is visible here";
  std::string text = "GPU: ";
  std::size_t devices = 0;
  for (const auto& [device, seconds] : work.by_device) {
    if (device == "cpu") continue;
    text += fmt::format("{}{} of one {}", devices++ == 0 ? "" : "; ", duration_text(seconds), device);
    if (gpus.size() > 1) {
      text += fmt::format(", {} on {}", duration_text(seconds / static_cast<double>(gpus.size())),
                          counted(gpus.size(), "GPU"));
    }
  }
  if (devices == 0) return "GPU: no time was measured";
  return text + ", by measured steps";
}

}  // namespace che
