#include "models/ops/batch_score/batch_score.h"

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

namespace che {

at::Tensor output_losses(const at::Tensor& logits, const at::Tensor& targets) {
  // Not gather(), whose gradient is a sort on GPUs where sums have a fixed order.
  return at::nll_loss(at::log_softmax(logits, -1).flatten(0, 2),
                      targets.unsqueeze(0).expand({logits.size(0), -1, -1}).flatten(), /*weight=*/{},
                      at::Reduction::None)
      .view({logits.size(0), targets.size(0), targets.size(1)});
}

namespace reference {

std::pair<at::Tensor, at::Tensor> score_batch(const at::Tensor& logits, const at::Tensor& targets,
                                              const at::Tensor& mask) {
  const at::Tensor wanted = targets.unsqueeze(0).expand({logits.size(0), -1, -1});
  const at::Tensor correct = logits.detach().argmax(-1).eq(wanted).logical_and(mask.unsqueeze(0));
  return {output_losses(logits, targets).flatten(1).mean(1), correct.flatten(1).sum(1)};
}

}  // namespace reference

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

BatchScoreInputs inputs_of(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& mask) {
  return {.replicas = logits.size(0),
          .rows = targets.numel(),
          .classes = logits.size(3),
          .logits = logits.const_data_ptr<float>(),
          .targets = targets.const_data_ptr<std::int64_t>(),
          .mask = mask.const_data_ptr<std::uint8_t>()};
}

class Score : public torch::autograd::Function<Score> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& targets,
                               const at::Tensor& mask, const Backend& backend) {
    keep(context, backend);
    context->save_for_backward({logits, targets, mask});
    const at::Tensor losses = at::empty({logits.size(0)}, logits.options());
    const at::Tensor correct = at::empty({logits.size(0)}, targets.options());
    run_kernel(backend, "loss", device_kernels(backend).batch_score.forward, inputs_of(logits, targets, mask),
               losses.mutable_data_ptr<float>(), correct.mutable_data_ptr<std::int64_t>());
    context->mark_non_differentiable({correct});
    return {losses, correct};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& logits = saved[0];
    const at::Tensor d_losses = gradients[0].contiguous();
    const at::Tensor d_logits = at::empty(logits.sizes(), logits.options());
    const auto& backend = kept<Backend>(context);
    run_kernel(backend, "loss's gradient", device_kernels(backend).batch_score.backward,
               inputs_of(logits, saved[1], saved[2]), d_losses.const_data_ptr<float>(),
               d_logits.mutable_data_ptr<float>());
    return {d_logits, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

BatchScore score_batch(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& mask,
                       const Backend& backend) {
  check_operand("score_batch: targets", targets, {logits.size(1), logits.size(2)}, at::kLong,
                logits.device());
  check_operand("score_batch: mask", mask, targets.sizes(), at::kByte, logits.device());
  const KernelTable* const fused = fused_kernels(backend, logits);
  if (fused == nullptr || fused->batch_score.serves == nullptr ||
      !fused->batch_score.serves(logits.size(0))) {
    const auto [loss, correct] = reference::score_batch(logits, targets, mask);
    return {loss, correct};
  }
  const variable_list score =
      Score::apply(logits.contiguous(), targets.contiguous(), mask.contiguous(), backend);
  return {score[0], score[1]};
}

}  // namespace che
