#include "models/kernels/batch_score.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include "models/kernels/reference/batch_score.h"

namespace che {
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
                               const at::Tensor& mask) {
    context->save_for_backward({logits, targets, mask});
    const at::Tensor losses = at::empty({logits.size(0)}, logits.options());
    const at::Tensor correct = at::empty({logits.size(0)}, targets.options());
    device_kernels(logits).batch_score.forward(inputs_of(logits, targets, mask),
                                               losses.mutable_data_ptr<float>(),
                                               correct.mutable_data_ptr<std::int64_t>());
    context->mark_non_differentiable({correct});
    return {losses, correct};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& logits = saved[0];
    const at::Tensor d_losses = gradients[0].contiguous();
    const at::Tensor d_logits = at::empty(logits.sizes(), logits.options());
    device_kernels(logits).batch_score.backward(inputs_of(logits, saved[1], saved[2]),
                                                d_losses.const_data_ptr<float>(),
                                                d_logits.mutable_data_ptr<float>());
    return {d_logits, at::Tensor(), at::Tensor()};
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
  const variable_list score = Score::apply(logits.contiguous(), targets.contiguous(), mask.contiguous());
  return {score[0], score[1]};
}

}  // namespace che
