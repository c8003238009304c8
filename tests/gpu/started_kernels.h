#pragma once

#include <cstdint>

namespace che::gpu {

// Kernels that the emulation has run since the process began.
std::int64_t started_kernels();

}  // namespace che::gpu
