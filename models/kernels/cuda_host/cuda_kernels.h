#pragma once

#include <c10/core/Device.h>

#include "models/kernels/cuda/abi.h"
#include "models/kernels/forms/kernel_table.h"

namespace che {

// From now on `device` is the one that this process computes on besides the CPU, and its fused operations are
// those of `library`, whose memory stays.
void use_cuda_kernels(const c10::Device& device, const CudaKernels& library);

// The fused operations of devices of that kind; null where use_cuda_kernels() was not called for it. They
// work in its current stream, on its memory, and throw Error (runtime) where CUDA reports an error.
const KernelTable* cuda_kernels(c10::DeviceType device);

// Has the kernels read what changes with the training step from there, memory of the device, whatever their
// operands say; null ends it.
void set_cuda_step(const CudaStep* step);

// Of matrix products, LibTorch's among them; kFp32 at the start.
void set_cuda_precision(CudaPrecision precision);

}  // namespace che
