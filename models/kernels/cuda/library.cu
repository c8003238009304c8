// The library's symbol.
#include "models/kernels/cuda/attention_tiles.h"
#include "models/kernels/cuda/bias_relu.h"
#include "models/kernels/cuda/functions.h"
#include "models/kernels/cuda/gpu.h"

namespace che {
namespace {

// A library's products take whole batches: a block of rows in a cache is a CPU's concern.
constexpr std::int64_t kAllRows = std::int64_t{1} << 40;

int attention_serves(const AttentionShape* shape, bool has_gradients) {
  const int answer = gpu::attention_forward_serves(*shape);
  return answer == kCudaDone && has_gradients ? gpu::attention_backward_serves(*shape) : answer;
}

constexpr CudaKernels kKernels{
    kCudaAbiVersion,
    gpu::describe_device,
    gpu::error_text,
    attention_serves,
    gpu::attention_saved_values,
    gpu::attention_forward,
    gpu::attention_backward_workspace,
    gpu::attention_backward,
    gpu::dropout_serves,
    gpu::dropout,
    gpu::residual_norm_serves,
    gpu::residual_norm_forward,
    gpu::residual_norm_backward_workspace,
    gpu::residual_norm_backward,
    gpu::adam_norms_workspace,
    gpu::adam_norms,
    gpu::adam_update,
    gpu::rotate,
    kAllRows,
    gpu::kBiasReluParts,
    gpu::bias_relu_forward,
    gpu::bias_relu_backward,
    gpu::embedding_serves,
    gpu::embedding_forward,
    gpu::embedding_backward_workspace,
    gpu::embedding_backward,
    gpu::batch_score_serves,
    gpu::batch_score_workspace,
    gpu::batch_score_forward,
    gpu::batch_score_backward,
};

}  // namespace

extern "C" const CudaKernels* che_cuda_kernels(std::int32_t version) {
  return version == kCudaAbiVersion ? &kKernels : nullptr;
}

}  // namespace che
