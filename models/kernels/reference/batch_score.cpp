#include "models/kernels/reference/batch_score.h"

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>

namespace che::reference {

std::pair<at::Tensor, at::Tensor> score_batch(const at::Tensor& logits, const at::Tensor& targets,
                                              const at::Tensor& mask) {
  const std::int64_t replicas = logits.size(0);
  const at::Tensor wanted = targets.unsqueeze(0).expand({replicas, -1, -1});
  // Not gather(), whose gradient is a sort on GPUs where sums have a fixed order.
  const at::Tensor losses = at::nll_loss(at::log_softmax(logits, -1).flatten(0, 2), wanted.flatten(),
                                         /*weight=*/{}, at::Reduction::None)
                                .view({replicas, -1});
  const at::Tensor correct = logits.detach().argmax(-1).eq(wanted).logical_and(mask.unsqueeze(0));
  return {losses.mean(1), correct.flatten(1).sum(1)};
}

}  // namespace che::reference
