// What tests of kernels share: values, and runs of an emulated kernel in several schedules.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/ops/device/kernel_table.h"

namespace che {

// Standard normal values times `scale`. Vectors have exactly the size that kernels are promised, so that
// AddressSanitizer finds what they access beside it.
std::vector<float> some_values(std::int64_t count, std::uint64_t seed, float scale = 1);

// Values that nobody has written.
std::vector<float> unwritten(std::int64_t count);

// Results of a kernel by name, to be written.
struct Result {
  std::string name;
  std::vector<float> values;
};
using Results = std::vector<Result>;

// The CUDA kernels, on the emulation.
inline const KernelTable& cuda_kernels() { return che_cuda_library(kCudaLibraryVersion)->kernels; }

// A call whose workspace has exactly the size that the kernel asks for and was never written.
struct CallWithMemory {
  explicit CallWithMemory(GpuPrecision precision = GpuPrecision::kFp32);
  CallWithMemory(const CallWithMemory&) = delete;
  CallWithMemory& operator=(const CallWithMemory&) = delete;

  std::vector<float> workspace;
  KernelCall call;
};

// Calls `run` with fresh results like `results`: with the threads of each block in ascending, in descending
// and in random order. Fails unless it returns kKernelDone and gives the same bits every time. Under
// ThreadSanitizer, which needs no other order, once. Returns the results.
Results in_every_schedule(const Results& results, const std::function<int(const KernelCall&, Results&)>& run,
                          GpuPrecision precision = GpuPrecision::kFp32);

// Runs the CPU's kernels, which are the reference, on the test's own thread, which sanitizers understand. It
// runs them on every instruction set of this machine and expects results within `bound` of each other, as
// expect_near() counts it. Returns those of the first instruction set.
Results on_the_cpu(const Results& results, double bound,
                   const std::function<void(const KernelCall&, Results&)>& run);

// Fails unless the largest difference is at most `bound` times the larger of 1 and the largest expected
// value, for every result; NaN fails but where it is expected.
void expect_near(const Results& expected, const Results& got, double bound);

}  // namespace che
