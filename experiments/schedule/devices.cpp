#include "experiments/schedule/devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "core/process.h"
#include "core/text.h"
#include "experiments/plan/identity.h"

namespace che {
namespace {

constexpr double kWorkerBytes =
    2 * 0x1p30;  // Next to evaluation's activations: LibTorch, parameters, training.

std::int64_t max_threads(const std::vector<RunConfig>& runs) {
  std::int64_t threads = 1;
  for (const RunConfig& run : runs) threads = std::max(threads, run.execution.threads);
  return threads;
}

// Counts the GPUs that the runs go to; 1 where they need one and none is visible.
std::size_t count_gpus(const std::vector<RunConfig>& runs, const Resources& resources) {
  std::set<std::int64_t> used;
  for (const RunConfig& run : runs) {
    for (const std::int64_t gpu : gpus_of(run.execution, resources.gpus)) used.insert(gpu);
    if (device_choice(run.execution.device).is_gpu(resources.gpus) && resources.gpus.empty()) used.insert(0);
  }
  return used.size();
}

// The precision of the run as `experiment` holds it.
std::optional<Precision> stored_precision(RunConfig run, const std::filesystem::path& experiment) {
  if (experiment.empty()) return std::nullopt;
  for (const Precision precision : {Precision::kBf16, Precision::kFp32}) {
    run.execution.precision = precision;
    if (std::filesystem::exists(experiment / "runs" / run_id(run) / "config.yaml")) return precision;
  }
  return std::nullopt;
}

void check_distinct(const std::vector<RunConfig>& runs) {
  std::set<std::string> ids;
  for (const RunConfig& run : runs) {
    if (ids.insert(run_id(run)).second) continue;
    const std::string& precision = precision_name(run.execution.precision);
    throw Error(
        fmt::format("execution.precision: auto is {} for run {}, which the config has twice; leave "
                    "out auto, or {}",
                    precision, run_id(run), precision));
  }
}

}  // namespace

std::int64_t default_workers(const std::vector<RunConfig>& runs, const Resources& resources) {
  if (const std::size_t gpus = count_gpus(runs, resources); gpus > 0) return static_cast<std::int64_t>(gpus);
  double max_gib = 0;
  for (const RunConfig& run : runs) max_gib = std::max(max_gib, run.execution.memory_gib);
  const std::int64_t by_cores = resources.cores / max_threads(runs);
  const auto by_memory =
      static_cast<std::int64_t>(resources.memory_bytes / (max_gib * 0x1p30 + kWorkerBytes));
  return std::max<std::int64_t>(1, std::min(by_cores, by_memory));
}

std::int64_t workers_for(const std::vector<RunConfig>& runs, std::int64_t workers) {
  return workers > 0 ? workers : default_workers(runs);
}

std::optional<std::int64_t> next_gpu(const ExecutionConfig& execution,
                                     const std::vector<std::string>& visible,
                                     const std::vector<std::string>& in_use) {
  const std::vector<std::int64_t> allowed = gpus_of(execution, visible);
  if (allowed.empty()) return std::nullopt;
  const auto workers_of = [&](std::int64_t gpu) {
    return std::ranges::count(in_use, visible.at(static_cast<std::size_t>(gpu)));
  };
  return *std::ranges::min_element(allowed, {}, workers_of);
}

std::int64_t usable_threads(std::int64_t threads, const Resources& resources) {
  return std::clamp<std::int64_t>(threads, 1, resources.cores);
}

ExecutionConfig on_device(ExecutionConfig execution, const std::string& device, const Resources& resources) {
  execution.device = device;
  execution.devices.clear();
  if (!device_choice(device).is_gpu(resources.gpus) && !execution.has_bf16()) {
    execution.precision = ExecutionConfig().precision;
  }
  return execution;
}

void check_devices(const std::vector<RunConfig>& runs, const Resources& resources,
                   const std::filesystem::path& kernels) {
  const auto visible = static_cast<std::int64_t>(resources.gpus.size());
  for (const RunConfig& run : runs) {
    const ExecutionConfig& execution = run.execution;
    const DeviceChoice choice = device_choice(execution.device);
    if (!choice.is_gpu(resources.gpus)) {
      if (execution.precision != Precision::kTf32) continue;
      throw Error("execution.precision: tf32 is for GPUs, and none is visible here; set fp32, bf16 or auto");
    }
    if (choice.number.value_or(0) >= visible) {
      const std::string count =
          visible == 0 ? "no GPU is" : counted(visible, "GPU") + (visible == 1 ? " is" : " are");
      throw Error(
          fmt::format("execution.device: {}: {} visible here, by NVIDIA's device files and "
                      "CUDA_VISIBLE_DEVICES; set cpu, or auto, which takes a GPU where there is one",
                      execution.device, count));
    }
    for (const std::int64_t gpu : execution.devices) {
      if (gpu < visible) continue;
      throw Error(
          fmt::format("execution.devices: got {}; allowed: {}, the places of the GPUs that are visible here",
                      gpu, visible == 1 ? "0" : fmt::format("0 to {}", visible - 1)));
    }
    if (!std::filesystem::exists(kernels)) {
      throw Error(
          fmt::format("execution.device: {}: this program has no CUDA kernels ({} is missing); run "
                      "scripts/setup.sh cuda, or set cpu",
                      execution.device, kernels.string()));
    }
  }
}

bool has_bf16_products() { return processor_has("avx512_bf16") || processor_has("amx_bf16"); }

std::vector<std::string> choose_precision(std::vector<RunConfig>& runs,
                                          const std::filesystem::path& experiment,
                                          const std::function<double(const RunConfig&)>& bf16_speed,
                                          bool has_bf16) {
  std::map<std::string, double> speeds;  // By what the notes say of the shape.
  std::set<std::string> notes;
  bool has_chosen = false;
  for (RunConfig& run : runs) {
    Precision& precision = run.execution.precision;
    if (precision != Precision::kAuto) continue;
    has_chosen = true;
    const std::optional<Precision> stored = stored_precision(run, experiment);
    precision = stored.value_or(Precision::kFp32);
    if (stored || !run.model.entry().takes_encoding) continue;
    if (device_choice(run.execution.device).kind != DeviceChoice::Kind::kCpu) continue;
    if (has_bf16 && !bf16_speed) {
      precision = Precision::kAuto;
      continue;
    }
    if (!has_bf16) {
      notes.insert("execution.precision: auto is fp32: the processor has neither AVX512_BF16 nor AMX");
      continue;
    }
    const std::string shape = fmt::format(
        "{} rows of width {}", run.training.batch_size * run.longest_training_sequence(), run.model.width());
    if (!speeds.contains(shape)) speeds[shape] = bf16_speed(run);
    if (speeds[shape] >= kLeastBf16Speed) precision = Precision::kBf16;
    notes.insert(
        fmt::format("execution.precision: auto is {}: for {}, bf16 products are {:.2f} times as fast as "
                    "fp32's, and {:.1f} times is asked for",
                    precision_name(precision), shape, speeds[shape], kLeastBf16Speed));
  }
  if (has_chosen) check_distinct(runs);
  return {notes.begin(), notes.end()};
}

bool has_device(const RunConfig& run) {
  try {
    check_devices({run});
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool choose_cpu_replicas(std::vector<RunConfig>& runs) {
  const std::vector<std::string> gpus = available_resources().gpus;
  bool is_any_left = false;
  for (RunConfig& run : runs) {
    if (run.execution.replicas != kAutoReplicas || !has_device(run)) continue;
    const bool is_left = device_choice(run.execution.device).is_gpu(gpus);
    if (!is_left) run.execution.replicas = 1;
    is_any_left |= is_left;
  }
  return is_any_left;
}

std::optional<std::string> threads_warning(const std::vector<RunConfig>& runs, const Resources& resources) {
  const std::int64_t wanted = max_threads(runs);
  const std::int64_t used = usable_threads(wanted, resources);
  if (used == wanted) return std::nullopt;
  return fmt::format("execution.threads={}: {} available here; each worker computes with {}", wanted,
                     counted(resources.cores, "core") + (resources.cores == 1 ? " is" : " are"),
                     counted(used, "thread"));
}

}  // namespace che
