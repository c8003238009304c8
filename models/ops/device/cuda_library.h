#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "models/ops/device/backend.h"

namespace che {

// Opens the shared library at `path`, which stays for the process' life. Throws Error (usage) that names the
// remedy where it is missing or of another version.
const CudaLibrary& open_cuda_library(const std::filesystem::path& path);

// Has LibTorch's operations that could sum in any order do it in a fixed one.
void set_up_numerics();

// Opens GPU `number` of those that are visible: loads LibTorch's CUDA part and libche_cuda.so beside the
// program, sets up numerics, and sets the precision of products. A second call for the same GPU does only the
// last. Throws Error (usage) that names the remedy where a library, a driver or the GPU is missing or too
// old.
std::shared_ptr<Gpu> open_cuda_gpu(std::int64_t number, GpuPrecision precision);

}  // namespace che
