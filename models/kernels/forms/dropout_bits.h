#pragma once

#include <cstdint>

namespace che {

// The dropout of one example at one site, as dropout_factors() of models/kernels/forms/dropout.h defines it:
// value number i of the example is kept where the i-th 16 bits of its Philox stream are at least `threshold`,
// and then multiplied by `kept`.
struct DropoutBits {
  std::uint32_t key[2] = {};
  std::uint32_t counter[3] = {};  // Words 1 to 3 of the counter; word 0 counts blocks of 8 values.
  std::uint32_t threshold = 0;    // 0: nothing is dropped.
  float kept = 1;
};

}  // namespace che
