#pragma once

#include <c10/core/DeviceType.h>

#include "models/kernels/cuda/abi.h"
#include "models/kernels/forms/kernel_table.h"

namespace che {

// From now on the fused operations of devices of kind `device` are those of `library`, whose memory stays.
// There is one such kind in a process.
void use_cuda_kernels(c10::DeviceType device, const CudaKernels& library);

// The fused operations of devices of that kind; null where use_cuda_kernels() was not called for it. They
// work in the current stream of the current device, on memory of that device, and throw Error (runtime) where
// CUDA reports an error.
const KernelTable* cuda_kernels(c10::DeviceType device);

// Of matrix products, LibTorch's among them; kFp32 at the start.
void set_cuda_precision(CudaPrecision precision);

}  // namespace che
