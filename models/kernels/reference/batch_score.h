#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

namespace che::reference {

// See score_batch() of models/kernels/batch_score.h: the loss, and what is correct.
std::pair<at::Tensor, at::Tensor> score_batch(const at::Tensor& logits, const at::Tensor& targets,
                                              const at::Tensor& mask);

}  // namespace che::reference
