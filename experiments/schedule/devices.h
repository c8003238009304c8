#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/resources.h"
#include "experiments/plan/run_config.h"

namespace che {

// As many worker processes as the cores and the memory serve if each works on the most demanding of `runs`,
// or one for each GPU that they go to; at least 1.
std::int64_t default_workers(const std::vector<RunConfig>& runs,
                             const Resources& resources = available_resources());

// `asked` workers, or as many as default_workers says where it is 0.
std::int64_t workers_for(const std::vector<RunConfig>& runs, std::int64_t asked);

// The GPU that the next worker for such runs gets, by its place in `visible`: of those that they may go to,
// the one that the fewest workers use. `in_use` has the GPU of each worker. Nothing where they compute on the
// CPU.
std::optional<std::int64_t> next_gpu(const ExecutionConfig& execution,
                                     const std::vector<std::string>& visible,
                                     const std::vector<std::string>& in_use);

// Threads that a job of execution.threads computes with: not more than there are cores. More would
// only share the cores. The number changes no result beyond rounding.
std::int64_t usable_threads(std::int64_t threads, const Resources& resources = available_resources());

// `execution` on another device than its own, as --device of `che evaluate` and `che verify` asks: any GPU of
// that kind, and in single precision on a CPU, which has no other.
ExecutionConfig on_device(ExecutionConfig execution, const std::string& device,
                          const Resources& resources = available_resources());

// Throws Error where a run asks for GPUs that are not visible or for which there are no kernels, or for a
// precision that its device has not.
void check_devices(const std::vector<RunConfig>& runs, const Resources& resources = available_resources(),
                   const std::filesystem::path& kernels = cuda_kernels_file());

// One warning about runs that ask for more threads than there are cores; nothing where none does.
std::optional<std::string> threads_warning(const std::vector<RunConfig>& runs,
                                           const Resources& resources = available_resources());

}  // namespace che
