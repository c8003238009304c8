#include "models/loss.h"

#include <ATen/ATen.h>

namespace che {

BatchScore score_batch(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& mask) {
  const std::int64_t replicas = logits.size(0);
  const at::Tensor wanted = targets.unsqueeze(0).expand({replicas, -1, -1});
  const at::Tensor losses = -at::log_softmax(logits, -1).gather(-1, wanted.unsqueeze(-1));
  const at::Tensor correct = logits.detach().argmax(-1).eq(wanted).logical_and(mask.unsqueeze(0));
  return {losses.flatten(1).mean(1), correct.flatten(1).sum(1)};
}

}  // namespace che
