#include "experiments/training/work_estimate.h"

#include <ATen/ATen.h>
#include <fmt/core.h>

#include <exception>
#include <functional>
#include <set>

#include "core/error.h"
#include "core/resources.h"
#include "core/text.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/time_left.h"
#include "experiments/store/run_folder.h"
#include "experiments/training/model_factory.h"
#include "experiments/training/out_of_memory.h"

namespace che {
namespace {

// Parameters, their gradients and Adam's two moments, in single precision. Activations come on top.
double training_bytes(std::int64_t parameters) {
  return 4.0 * sizeof(float) * static_cast<double>(parameters);
}

// Measures `work` of a run; sets `unmeasured` where that takes too much memory. Returns whether it did not.
bool measure(RunEstimate& run, const RunConfig& config, CostEstimate& cost, double memory_bytes) {
  const double bytes = training_bytes(run.parameters) * static_cast<double>(config.execution.replicas);
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

// What computes a run; throws Error where that is not here.
using DeviceOf = std::function<ComputingDevice(const RunConfig&)>;

WorkEstimate estimate(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment,
                      CostEstimate cost, const DeviceOf& device_of) {
  const double memory_bytes = available_resources().memory_bytes;
  WorkEstimate all;
  for (const RunConfig& config : runs) {
    RunEstimate& run = all.runs.emplace_back();
    run.parameters = parameter_count(config);
    run.needs = assess(RunFolder::at(experiment, config));
    if (run.needs.left.all() > 0) {
      std::optional<ComputingDevice> device;
      try {
        device = device_of(config);
      } catch (const Error& error) {
        run.unmeasured = error.what();
      }
      const double limit =
          device && device->gpu ? static_cast<double>(device->gpu->description.memory_bytes) : memory_bytes;
      if (device && measure(run, config, cost, limit)) all.by_device[device->description] += run.seconds;
    }
    all.complete += run.needs.is_complete() ? 1U : 0U;
    all.unmeasured += run.unmeasured.empty() ? 0U : 1U;
    all.left.training += run.needs.left.training;
    all.left.evaluation += run.needs.left.evaluation;
    all.seconds += run.seconds;
  }
  return all;
}

}  // namespace

WorkEstimate estimate_work(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment) {
  return estimate(runs, experiment, CostEstimate(), [](const RunConfig& config) {
    check_devices({config});
    return open_device(config.execution);
  });
}

WorkEstimate estimate_work(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment,
                           const ComputingDevice& device) {
  const Backend backend{Kernels::kFused, at::TensorOptions().dtype(at::kFloat).device(device.device),
                        device.gpu};
  return estimate(runs, experiment, CostEstimate(backend), [&](const RunConfig&) { return device; });
}

std::string gpu_time_text(const std::vector<RunConfig>& runs, const WorkEstimate& work,
                          const std::vector<std::string>& visible) {
  std::set<std::int64_t> gpus;
  bool may_use_gpu = false;
  for (const RunConfig& run : runs) {
    may_use_gpu |= device_choice(run.execution.device).kind != DeviceChoice::Kind::kCpu;
    for (const std::int64_t gpu : gpus_of(run.execution, visible)) gpus.insert(gpu);
  }
  if (!may_use_gpu) return "";
  if (visible.empty()) return "GPU: no time was measured, because no GPU is visible here";
  std::string text = "GPU: ";
  std::size_t devices = 0;
  for (const auto& [device, seconds] : work.by_device) {
    if (device == "cpu") continue;
    text += fmt::format("{}{} of one {}", devices++ == 0 ? "" : "; ", duration_text(seconds.middle), device);
    if (gpus.size() > 1) {
      text += fmt::format(", {} on {}", duration_text(seconds.middle / static_cast<double>(gpus.size())),
                          counted(gpus.size(), "GPU"));
    }
  }
  if (devices == 0) return "GPU: no time was measured";
  return text + ", by measured steps";
}

}  // namespace che
