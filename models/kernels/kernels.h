#pragma once

#include <cstdint>
#include <string_view>

namespace che {

// Which implementation of the model's operations runs: those fused by hand, in single precision on a
// CPU, or compositions of library operations, which also serve every other type and device and what
// no fused operation covers. Both compute the same up to rounding.
enum class Kernels : std::uint8_t { kFused, kReference };

// The config's word: "fused" or "reference".
constexpr Kernels kernels_named(std::string_view name) {
  return name == "fused" ? Kernels::kFused : Kernels::kReference;
}

}  // namespace che
