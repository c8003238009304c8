#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/resources.h"
#include "experiments/plan/run_config.h"

namespace che {

// How many worker processes the cores and the memory serve if each works on the most demanding of `runs`;
// where the runs go to GPUs, one for each GPU. At least 1.
std::int64_t default_workers(const std::vector<RunConfig>& runs,
                             const Resources& resources = available_resources());

// Returns `workers`, or the default if it is 0.
std::int64_t workers_for(const std::vector<RunConfig>& runs, std::int64_t workers);

// Returns the GPU for the next worker, by its place in `visible`: the one that the fewest workers use, among
// those that `execution` allows. `in_use` has the GPU of each worker. Nothing for runs on the CPU.
std::optional<std::int64_t> next_gpu(const ExecutionConfig& execution,
                                     const std::vector<std::string>& visible,
                                     const std::vector<std::string>& in_use);

// Whether the config lets a GPU compute the run.
inline bool may_use_gpu(const RunConfig& run) {
  return device_choice(run.execution.device).kind != DeviceChoice::Kind::kCpu;
}

// Returns execution.threads, at most the number of cores. The number changes no result beyond rounding.
std::int64_t usable_threads(std::int64_t threads, const Resources& resources = available_resources());

// Returns `execution` on another device, for --device of `che evaluate` and `che verify`: on any GPU of that
// kind, and without TF32 on a CPU.
ExecutionConfig on_device(ExecutionConfig execution, const std::string& device,
                          const Resources& resources = available_resources());

// Whether the processor multiplies bf16 itself: it has AVX512_BF16 or AMX.
bool has_bf16_products();

// Throws Error where a run wants a GPU that is not visible or that has no kernels, or a precision that its
// device does not have.
void check_devices(const std::vector<RunConfig>& runs, const Resources& resources = available_resources(),
                   const std::filesystem::path& kernels = cuda_kernels_file());

// The rate of bf16 products over that of fp32's that makes up for the rounding.
inline constexpr double kLeastBf16Speed = 1.4;

// Sets execution.precision of each run with Precision::kAuto, and says for each choice why. A run that
// `experiment` holds (none if empty) keeps the precision that it has there. Another gets bf16 if it is a
// transformer with device cpu, and `has_bf16`, whose bf16_speed(run) is at least kLeastBf16Speed, else fp32.
// Where `bf16_speed` is empty, a run that it would decide on stays as it is. Throws Error where that makes
// two runs one.
std::vector<std::string> choose_precision(std::vector<RunConfig>& runs,
                                          const std::filesystem::path& experiment,
                                          const std::function<double(const RunConfig&)>& bf16_speed,
                                          bool has_bf16 = has_bf16_products());

// Whether check_devices() accepts the run here.
bool has_device(const RunConfig& run);

// Sets replicas that the config leaves open to 1 where the run has a CPU. Returns whether some run is left
// that has a GPU, on which steps are measured.
bool choose_cpu_replicas(std::vector<RunConfig>& runs);

// Returns a warning if some runs want more threads than there are cores.
std::optional<std::string> threads_warning(const std::vector<RunConfig>& runs,
                                           const Resources& resources = available_resources());

}  // namespace che
