#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "models/kernels/cuda/abi.h"

namespace che {

// A GPU that this process computes on.
struct CudaGpu {
  c10::Device device;
  CudaDevice description;
};

// Opens the shared library at `path`, our CUDA kernels, which stay for the process' life. Throws Error
// (usage) that names the remedy where it is missing or of another version.
const CudaKernels& open_cuda_kernels(const std::filesystem::path& path);

// Has LibTorch's operations that could sum in any order do it in a fixed one.
void set_up_numerics();

// Makes GPU `number` of those that are visible the one that this process computes on: opens LibTorch's CUDA
// part and libche_cuda.so beside the program, sets up numerics, and sets the precision of products. A second
// call for the same GPU does only the last. Throws Error (usage) that names the remedy where a library, a
// driver or the GPU is missing or too old.
CudaGpu open_cuda_gpu(std::int64_t number, CudaPrecision precision);

}  // namespace che
