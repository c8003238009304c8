#include <gtest/gtest.h>

#include "models/ops/device/kernel_table.h"

namespace che {
namespace {

TEST(CudaLibrary, AnswersToItsOwnVersionOnly) {
  EXPECT_EQ(nullptr, che_cuda_library(kCudaLibraryVersion + 1));
  const CudaLibrary* const library = che_cuda_library(kCudaLibraryVersion);
  ASSERT_NE(nullptr, library);
  EXPECT_EQ(kCudaLibraryVersion, library->version);
}

TEST(CudaLibrary, HasEveryFunction) {
  const CudaLibrary& library = *che_cuda_library(kCudaLibraryVersion);
  EXPECT_NE(nullptr, library.describe_device);
  EXPECT_NE(nullptr, library.wait);
  EXPECT_NE(nullptr, library.error_text);
  const auto has_functions = [](const auto&... functions) { return ((functions != nullptr) && ...); };
  const auto& [attention, bias_relu, bias_gelu, dropout, residual_norm, rotation, adam, embedding,
               batch_score] = library.kernels;
  EXPECT_TRUE(has_functions(attention.serves, attention.saved_values, attention.forward, attention.backward));
  EXPECT_TRUE(has_functions(bias_relu.forward, bias_relu.backward));
  EXPECT_TRUE(has_functions(dropout.serves, dropout.apply));
  EXPECT_TRUE(has_functions(residual_norm.serves, residual_norm.forward, residual_norm.backward));
  EXPECT_TRUE(has_functions(rotation.rotate));
  EXPECT_TRUE(has_functions(adam.norms, adam.update));
  EXPECT_TRUE(has_functions(embedding.serves, embedding.forward, embedding.backward));
  EXPECT_TRUE(has_functions(batch_score.serves, batch_score.forward, batch_score.backward));
  EXPECT_GT(attention.query_block, 0);
  EXPECT_GT(bias_relu.block_rows, 0);
  EXPECT_GT(bias_relu.partial_sums, 0);
}

}  // namespace
}  // namespace che
