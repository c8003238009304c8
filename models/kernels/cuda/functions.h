// The functions that library.cu puts into CudaKernels.
#pragma once

#include "models/kernels/cuda/abi.h"

namespace che::gpu {

int attention_forward_serves(const AttentionShape& shape);
int attention_backward_serves(const AttentionShape& shape);
std::int64_t attention_saved_values(const AttentionShape* shape);
int attention_forward(const CudaCall* call, const AttentionInputs* in, const ExampleView<float>* out,
                      float* saved);
std::int64_t attention_backward_workspace(const AttentionInputs* in, const AttentionGradients* out);
int attention_backward(const CudaCall* call, const AttentionInputs* in, const float* saved,
                       const ExampleView<const float>* d_out, const AttentionGradients* out);

int dropout_serves(std::int64_t replicas, std::int64_t batch);
int dropout(const CudaCall* call, const CudaDropoutInputs* in, float* out);

int residual_norm_serves(std::int64_t replicas, std::int64_t width, bool has_dropout);
int residual_norm_forward(const CudaCall* call, const CudaResidualNormInputs* in,
                          const ExampleView<float>* out, const ExampleView<float>* moments);
std::int64_t residual_norm_backward_workspace(const CudaResidualNormInputs* in);
int residual_norm_backward(const CudaCall* call, const CudaResidualNormInputs* in,
                           const ExampleView<const float>* moments, const ExampleView<const float>* d_out,
                           const CudaResidualNormGradients* out);

std::int64_t adam_norms_workspace(std::int64_t replicas, std::int64_t size);
int adam_norms(const CudaCall* call, std::int64_t replicas, std::int64_t size, const float* gradients,
               float* norms);
int adam_update(const CudaCall* call, const AdamOperands* operands, const AdamSettings* settings);

int rotate(const CudaCall* call, const RotationInputs* in, float* out);

int bias_relu_forward(const CudaCall* call, const HiddenRows* values, const float* bias);
int bias_relu_backward(const CudaCall* call, const HiddenRows* gradient, const HiddenRows* activation,
                       float* d_bias);

int embedding_serves(std::int64_t replicas, std::int64_t symbols);
int embedding_forward(const CudaCall* call, const EmbeddingInputs* in, const float* table, float* out);
std::int64_t embedding_backward_workspace(const EmbeddingInputs* in);
int embedding_backward(const CudaCall* call, const EmbeddingInputs* in, const float* d_out, float* d_table);

int batch_score_serves(std::int64_t replicas);
std::int64_t batch_score_workspace(const BatchScoreInputs* in);
int batch_score_forward(const CudaCall* call, const BatchScoreInputs* in, float* losses,
                        std::int64_t* correct);
int batch_score_backward(const CudaCall* call, const BatchScoreInputs* in, const float* d_losses,
                         float* d_logits);

}  // namespace che::gpu
