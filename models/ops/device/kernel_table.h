#pragma once

#include <cstdint>

#include "models/ops/adam/adam_kernels.h"
#include "models/ops/attention/attention_kernels.h"
#include "models/ops/batch_score/batch_score_kernels.h"
#include "models/ops/device/kernel_call.h"
#include "models/ops/dropout/dropout_kernels.h"
#include "models/ops/embedding/embedding_kernels.h"
#include "models/ops/feed_forward/bias_relu_kernels.h"
#include "models/ops/residual_norm/residual_norm_kernels.h"
#include "models/ops/rotation/rotation_kernels.h"

namespace che {

// The fused operations of one kind of device, in single precision: whole batches by pointer, shape and
// stride. Each kernel cuts a batch for its threads or blocks itself; its results depend neither on how many
// there are nor on the call.
struct KernelTable {
  AttentionKernels attention;
  BiasReluKernels bias_relu;
  BiasGeluKernels bias_gelu{};
  DropoutKernels dropout;
  ResidualNormKernels residual_norm;
  RotationKernels rotation;
  AdamKernels adam;
  EmbeddingKernels embedding{};
  BatchScoreKernels batch_score{};
};

// The operations on CPUs: vector code for one example or row, in parallel over parts of the batch.
const KernelTable& cpu_kernels();

// A CUDA device, as its driver describes it.
struct CudaDevice {
  char name[256];                   // Ends with a 0. NOLINT(modernize-avoid-c-arrays)
  std::int32_t compute_capability;  // 10 times the major number, and the minor one.
  std::int32_t multiprocessors;
  std::int32_t driver_version;  // The CUDA version that the driver serves: 1000 times the major number and 10
                                // times the minor.
  std::int32_t runtime_version;  // The CUDA version that the library is linked to.
  std::int64_t memory_bytes;
  std::int64_t shared_bytes;  // The most shared memory that a block may have.
  double memory_rate;         // Bytes a second between device and its memory, nominal; 0 for unknown.
  double multiply_add_rate;   // Single-precision operations a second without tensor cores, nominal, a
                              // multiplication and an addition counted as two; 0 for unknown.
};

// Changes with everything in this header and in the headers that it includes.
constexpr std::int32_t kCudaLibraryVersion = 7;

// libche_cuda.so. docs/gpu.md lists the shapes that its kernels serve.
struct CudaLibrary {
  std::int32_t version;  // kCudaLibraryVersion of the library's source.

  // Returns kKernelDone, or CUDA's error: there is no driver, or no device of that number.
  int (*describe_device)(std::int32_t number, CudaDevice* device);
  // Waits for all work of the current device. Returns kKernelDone or CUDA's error, which stays after a fault.
  int (*wait)();
  const char* (*error_text)(int error);  // The text of one of CUDA's errors.
  KernelTable kernels;
};

// The library's one symbol; null where `version` is not its own.
extern "C" __attribute__((visibility("default"))) const CudaLibrary* che_cuda_library(std::int32_t version);

}  // namespace che
