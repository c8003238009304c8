#pragma once

#include "models/kernels/cuda_host/cuda_kernels.h"
#include "tests/gpu/fake_device.h"

namespace che {

// Other kernels in place of the emulated ones, while it exists.
class OtherKernels {
 public:
  explicit OtherKernels(const CudaKernels& kernels) { use_cuda_kernels(fake_device(), kernels); }
  ~OtherKernels() { use_cuda_kernels(fake_device(), *che_cuda_kernels(kCudaAbiVersion)); }
  OtherKernels(const OtherKernels&) = delete;
  OtherKernels& operator=(const OtherKernels&) = delete;
};

}  // namespace che
