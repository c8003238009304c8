#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

#include <cstdint>

namespace che::reference {

// See Embedding of models/kernels/embedding.h. (replicas, batch, tokens, symbols) of 0 and 1, which replicas
// share.
at::Tensor one_hot(const at::Tensor& tokens, std::int64_t symbols, std::int64_t replicas,
                   const at::TensorOptions& options);

// The rows of table that one_hot chooses.
at::Tensor embedding(const at::Tensor& one_hot, const at::Tensor& table);

}  // namespace che::reference
