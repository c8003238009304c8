#pragma once

#include <cstdint>

namespace che {

// A kernel returns one of these, or a positive number, which is an error of its device.
constexpr int kKernelDone = 0;
constexpr int kKernelNotServed = -1;  // The device does not serve this shape; nothing was done.

// Which implementation of the model's operations runs: those fused by hand, in single precision on devices
// that have them, or compositions of LibTorch's operations. The latter also serve every other type and
// device, and every operation that has no kernel. Both compute the same up to rounding.
enum class Kernels : std::uint8_t { kFused, kReference };

// The precision of products on a GPU.
enum class GpuPrecision : std::int32_t {
  kFp32 = 0,
  kTf32 = 1,  // Tensor cores multiply attention's where its shape allows, with 10 bits of mantissa.
};

// The values that change from one training step to the next. gpu_step() of models/ops/adam/adam_kernels.h
// computes them.
struct GpuStep {
  std::uint32_t dropout;  // DropoutBits::counter[1], the number of the step.
  float second_scale;     // Adam's 1 / (1 - beta2^n) for update number n.
  double rate_scale;      // Adam's fraction of the rates / (1 - beta1^n).
};

// A kernel's first argument. CPU kernels read nothing of it. On a GPU, all operands are memory of the
// stream's device, which is the current one. There q, k, v, d_out, the values that attention keeps and the
// workspace are aligned to 16 bytes. A call only enqueues work: it neither waits nor copies.
struct KernelCall {
  void* stream = nullptr;  // A cudaStream_t.
  // Returns memory for so many floats, which is free again when the call's work is done. A kernel asks once.
  float* (*allocate)(void* owner, std::int64_t floats) = nullptr;
  void* owner = nullptr;
  GpuPrecision precision = GpuPrecision::kFp32;
  // Memory of the device that kernels read in place of the operands' own values, unless it is null.
  const GpuStep* step = nullptr;
};

// Memory of a (replicas, batch, rows...) tensor whose rows of one example follow each other without gaps.
template <class Value>
struct ExampleView {
  Value* data = nullptr;
  std::int64_t replica_stride = 0;
  std::int64_t example_stride = 0;

  Value* of(std::int64_t replica, std::int64_t example) const {
    return data + replica * replica_stride + example * example_stride;
  }
};

// Memory of values at every (query, key) pair, by rows (heads, hidden features), the same for all examples.
// The pairs of a row follow each other. By offset, query i and key j read element j - i + queries - 1 of 2
// keys - 1. By pair, they read element i keys + j of queries keys.
template <class Value>
struct PairView {
  Value* data = nullptr;            // Null if there are no values.
  std::int64_t replica_stride = 0;  // 0 where all replicas share the values.
  std::int64_t row_stride = 0;
  bool by_offset = false;

  Value* row(std::int64_t replica, std::int64_t row) const {
    return data + replica * replica_stride + row * row_stride;
  }
};

}  // namespace che
