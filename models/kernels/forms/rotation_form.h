#pragma once

#include <cstdint>

namespace che {

// What rotate() of models/kernels/rotation.h reads; everything is contiguous.
struct RotationInputs {
  std::int64_t examples;  // Of all replicas.
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t head_width;
  const float* values;  // (examples, tokens, heads, head_width)
  const float* sine;    // (tokens, head_width / 2)
  const float* cosine;  // likewise
  bool backwards;       // By the negative angles, as gradients turn.
};

struct RotationForm {
  // Writes out, like values.
  void (*rotate)(const RotationInputs& in, float* out);
};

}  // namespace che
