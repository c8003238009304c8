#pragma once

#include <ATen/core/Tensor.h>

#include "models/kernels/cuda/abi.h"
#include "models/kernels/cuda_host/cuda_kernels.h"
#include "models/kernels/dispatch.h"
#include "tests/gpu/fake_device.h"

namespace che {

inline Backend backend_on(const at::Device& device, Kernels kernels) {
  return {kernels, at::TensorOptions().dtype(at::kFloat).device(device)};
}

// The fused operations of the fake device are the CUDA kernels, which an emulation runs.
inline const bool has_cuda_kernels = [] {
  use_cuda_kernels(fake_device(), *che_cuda_kernels(kCudaAbiVersion));
  return true;
}();

}  // namespace che
