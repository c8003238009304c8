#pragma once

#include <c10/core/Device.h>
#include <oneapi/tbb/global_control.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>

// The threads and the memory that computing may use, and what it did use.
namespace che {

// Limits this process to `threads` threads while it exists, at most as many as there are cores (see
// usable_threads): LibTorch's operations, the project's kernels and the drawing of samples. Everything that
// trains, evaluates or measures holds one, so that times are comparable.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::int64_t threads);

 private:
  tbb::global_control limit_;
};

// Returns the most bytes of tensors that `work` holds at once, beyond those that exist before it. It counts
// everything that LibTorch's allocators hand out to this thread, on any device or on those of kind `device`.
// It depends only on what `work` computes, not on load or on the number of threads, and other threads may
// allocate meanwhile. Scratch memory of libraries, and of fused operations for one tile or row, is not
// counted. `work` may throw.
std::int64_t peak_tensor_bytes(const std::function<void()>& work,
                               std::optional<c10::DeviceType> device = std::nullopt);

// The following serve devices beside the CPU, as LibTorch's allocator reports them.

// Gives back the memory that this process keeps for later tensors.
void give_back_device_memory(const c10::Device& device);
// Bytes that a new process could have now. Memory kept for later tensors is given back first.
double free_device_bytes(const c10::Device& device);
// The most bytes of tensors that this process held at a time since reset_peak_device_bytes().
double peak_device_bytes(const c10::Device& device);
void reset_peak_device_bytes(const c10::Device& device);

// Whether the system refused memory: std::bad_alloc, or an error of LibTorch's allocators.
bool is_out_of_memory(const std::exception& error);

// An exception as a user reads it, in one line. For memory that was refused it says how much was asked for
// and what helps; for LibTorch's errors it leaves out the backtrace.
std::string failure_text(const std::exception& error);

}  // namespace che
