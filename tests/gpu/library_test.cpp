#include <gtest/gtest.h>

#include "models/kernels/cuda/abi.h"

namespace che {
namespace {

TEST(CudaLibrary, AnswersToItsOwnVersionOnly) {
  EXPECT_EQ(nullptr, che_cuda_kernels(kCudaAbiVersion + 1));
  const CudaKernels* const kernels = che_cuda_kernels(kCudaAbiVersion);
  ASSERT_NE(nullptr, kernels);
  EXPECT_EQ(kCudaAbiVersion, kernels->version);
}

TEST(CudaLibrary, HasEveryFunction) {
  const CudaKernels& kernels = *che_cuda_kernels(kCudaAbiVersion);
  EXPECT_NE(nullptr, kernels.describe_device);
  EXPECT_NE(nullptr, kernels.error_text);
  EXPECT_NE(nullptr, kernels.attention_serves);
  EXPECT_NE(nullptr, kernels.attention_saved_values);
  EXPECT_NE(nullptr, kernels.attention_forward);
  EXPECT_NE(nullptr, kernels.attention_backward_workspace);
  EXPECT_NE(nullptr, kernels.attention_backward);
  EXPECT_NE(nullptr, kernels.dropout_serves);
  EXPECT_NE(nullptr, kernels.dropout);
  EXPECT_NE(nullptr, kernels.residual_norm_serves);
  EXPECT_NE(nullptr, kernels.residual_norm_forward);
  EXPECT_NE(nullptr, kernels.residual_norm_backward_workspace);
  EXPECT_NE(nullptr, kernels.residual_norm_backward);
  EXPECT_NE(nullptr, kernels.adam_norms_workspace);
  EXPECT_NE(nullptr, kernels.adam_norms);
  EXPECT_NE(nullptr, kernels.adam_update);
  EXPECT_NE(nullptr, kernels.rotate);
  EXPECT_NE(nullptr, kernels.bias_relu_forward);
  EXPECT_NE(nullptr, kernels.bias_relu_backward);
  EXPECT_NE(nullptr, kernels.embedding_serves);
  EXPECT_NE(nullptr, kernels.embedding_forward);
  EXPECT_NE(nullptr, kernels.embedding_backward_workspace);
  EXPECT_NE(nullptr, kernels.embedding_backward);
  EXPECT_NE(nullptr, kernels.batch_score_serves);
  EXPECT_NE(nullptr, kernels.batch_score_workspace);
  EXPECT_NE(nullptr, kernels.batch_score_forward);
  EXPECT_NE(nullptr, kernels.batch_score_backward);
  EXPECT_GT(kernels.bias_relu_block_rows, 0);
  EXPECT_GT(kernels.bias_relu_partial_sums, 0);
}

}  // namespace
}  // namespace che
