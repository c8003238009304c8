#pragma once

#include <cstdint>

namespace che::gpu {

// Of a replica's rows, summed one after the other.
constexpr std::int64_t kBiasReluParts = 64;

}  // namespace che::gpu
