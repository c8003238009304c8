#pragma once

#include <cstdint>

#include "models/ops/device/kernel_call.h"

namespace che {

// The inputs of rotate() of rotation.h; everything is contiguous.
struct RotationInputs {
  std::int64_t examples;  // All replicas' examples.
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t head_width;
  const float* values;  // (examples, tokens, heads, head_width)
  const float* sine;    // (tokens, head_width / 2)
  const float* cosine;  // likewise
  bool backwards;       // Whether to turn by the negative angles, as gradients do.
};

struct RotationKernels {
  // Writes out, like values.
  int (*rotate)(const KernelCall& call, const RotationInputs& in, float* out);
};

namespace gpu {
RotationKernels rotation_kernels();
}
namespace cpu {
RotationKernels rotation_kernels();
}

// Rows of heads of one token: out = heads * cosine + swap(heads) * sine with neighbouring features
// swapped, all (head_width) long but heads and out (heads, head_width). head_width is even. `sign` is
// multiplied with the sine.
void rotate_heads(const float* heads, std::int64_t count, std::int64_t head_width, const float* cosine,
                  const float* sine, float sign, float* out);

}  // namespace che
