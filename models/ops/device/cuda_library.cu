#include "models/ops/device/gpu.h"
#include "models/ops/device/kernel_table.h"

// In its namespace, or the symbol would be hidden in spite of its declaration.
namespace che {

extern "C" const CudaLibrary* che_cuda_library(std::int32_t version) {
  static const CudaLibrary library{.version = kCudaLibraryVersion,
                                   .describe_device = gpu::describe_device,
                                   .wait = gpu::wait,
                                   .error_text = gpu::error_text,
                                   .kernels = {.attention = gpu::attention_kernels(),
                                               .bias_relu = gpu::bias_relu_kernels(),
                                               .dropout = gpu::dropout_kernels(),
                                               .residual_norm = gpu::residual_norm_kernels(),
                                               .rotation = gpu::rotation_kernels(),
                                               .adam = gpu::adam_kernels(),
                                               .embedding = gpu::embedding_kernels(),
                                               .batch_score = gpu::batch_score_kernels()}};
  return version == kCudaLibraryVersion ? &library : nullptr;
}

}  // namespace che
