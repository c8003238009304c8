#pragma once

#include "models/kernels/cuda/gpu.h"

namespace che::gpu {

struct PhiloxBlock {
  std::uint32_t words[4];
};

// Philox4x32-10 (Salmon et al., SC 2011), as core/random.h's RandomStream has it.
__device__ __forceinline__ PhiloxBlock philox(std::uint32_t c0, std::uint32_t c1, std::uint32_t c2,
                                              std::uint32_t c3, std::uint32_t key0, std::uint32_t key1) {
  constexpr std::uint32_t kFactor0 = 0xD2511F53U;
  constexpr std::uint32_t kFactor1 = 0xCD9E8D57U;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t high0 = __umulhi(kFactor0, c0);
    const std::uint32_t low0 = kFactor0 * c0;
    const std::uint32_t high1 = __umulhi(kFactor1, c2);
    const std::uint32_t low1 = kFactor1 * c2;
    c0 = high1 ^ c1 ^ key0;
    c1 = low1;
    c2 = high0 ^ c3 ^ key1;
    c3 = low0;
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return {{c0, c1, c2, c3}};
}

}  // namespace che::gpu
