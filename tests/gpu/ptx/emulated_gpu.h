// The emulation of a GPU (tests/gpu/emulated_gpu.h), in which a launch runs nvcc's PTX of a kernel in place
// of its source.
#pragma once

#define launch launch_source
#include "tests/gpu/emulated_gpu.h"
#undef launch

#include <memory>
#include <tuple>

namespace che::ptx {

// A translated kernel. Its parameters lie where these point.
using Function = void (*)(unsigned char* const* parameters);

// The PTX of a kernel that nvcc compiled from the same source as the compiler of this program. Throws
// std::runtime_error where there is none.
Function function_of(const void* kernel);

// Adds what was executed since the last call to the counts of this kernel; see ptx.cpp.
void count_launch(Function kernel);

}  // namespace che::ptx

namespace che::gpu {

template <class... Parameters, class... Arguments>
int launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::int64_t shared_bytes, void* /*stream*/,
           const Arguments&... arguments) {
  const ptx::Function function = ptx::function_of(reinterpret_cast<const void*>(kernel));
  const auto values = std::make_shared<std::tuple<Parameters...>>(Parameters(arguments)...);
  run_grid(grid, block, shared_bytes, [&] {
    std::apply(
        [&](auto&... each) {
          unsigned char* const parameters[] = {reinterpret_cast<unsigned char*>(&each)...};
          function(parameters);
        },
        *values);
  });
  ptx::count_launch(function);
  return 0;
}

}  // namespace che::gpu
