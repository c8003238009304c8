#pragma once

#include <cstdint>

#include "models/ops/device/kernel_call.h"

namespace che {

// The dropout of one example at one site. Value number i of the example is kept where the i-th 16 bits of its
// Philox stream are at least `threshold`. It is then multiplied by `kept`.
struct DropoutBits {
  // NOLINTBEGIN(modernize-avoid-c-arrays)
  std::uint32_t key[2] = {};
  std::uint32_t counter[3] = {};  // Words 1 to 3 of the counter; word 0 counts blocks of 8 values.
  // NOLINTEND(modernize-avoid-c-arrays)
  std::uint32_t threshold = 0;  // 0 drops nothing.
  float kept = 1;
};

// Fused dropout of a GPU takes each replica's key by value, and no more of them.
constexpr std::int64_t kMaxDropoutReplicas = 64;

// The dropout of all examples of a call, in plain memory. Rows are tokens.
struct DropoutDraws {
  const std::uint32_t* keys = nullptr;  // Each replica's Philox key, (replicas, 2), in memory of the host.
  DropoutBits first;                    // Row 0 of any replica; its key is unused.
  std::int64_t first_token = 0;         // The place of row 0 in its sequence: dropout counts from token 0.

  DropoutBits bits(std::int64_t replica, std::int64_t example) const {
    DropoutBits bits = first;
    if (bits.threshold == 0) return bits;
    bits.key[0] = keys[2 * replica];
    bits.key[1] = keys[2 * replica + 1];
    bits.counter[0] += static_cast<std::uint32_t>(example);
    return bits;
  }
};

// The inputs of dropout() of dropout.h.
struct DropoutInputs {
  std::int64_t replicas;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t width;
  const float* values;  // (replicas, batch, rows, width), contiguous
  DropoutDraws draws;
};

struct DropoutKernels {
  // Whether apply() takes so many replicas and examples of each.
  bool (*serves)(std::int64_t replicas, std::int64_t batch);

  // Writes out, like values: each times its factor.
  int (*apply)(const KernelCall& call, const DropoutInputs& in, float* out);
};

namespace gpu {
DropoutKernels dropout_kernels();
}
namespace cpu {
DropoutKernels dropout_kernels();
}

}  // namespace che
