#include "models/kernels/adam_update.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>

#include "models/kernels/reference/adam.h"

namespace che {

at::Tensor adam_update(const at::Tensor& gradients, const at::Tensor& learning_rates,
                       const at::Tensor& first_moment, const at::Tensor& second_moment,
                       const at::Tensor& values, const AdamSettings& settings, const Backend& backend) {
  RECORD_FUNCTION("che::adam", {});
  const c10::NoGradGuard no_grad;
  check_operand("adam_update: learning_rates", learning_rates, {values.size(0), 1}, values);
  for (const at::Tensor& other : {gradients, first_moment, second_moment}) {
    check_operand("adam_update: gradients, moments", other, values.sizes(), values);
  }
  const KernelTable* const fused = fused_kernels(backend, values);
  if (fused == nullptr) {
    return reference::adam_update(gradients, learning_rates, first_moment, second_moment, values, settings);
  }
  const std::int64_t replicas = values.size(0);
  const std::int64_t size = values.size(1);
  const at::Tensor norms = at::empty({replicas}, values.options());
  fused->adam.norms(replicas, size, gradients.const_data_ptr<float>(), norms.mutable_data_ptr<float>());
  fused->adam.update({.replicas = replicas,
                      .size = size,
                      .learning_rates = learning_rates.const_data_ptr<float>(),
                      .norms = norms.const_data_ptr<float>(),
                      .gradients = gradients.const_data_ptr<float>(),
                      .first_moment = first_moment.mutable_data_ptr<float>(),
                      .second_moment = second_moment.mutable_data_ptr<float>(),
                      .values = values.mutable_data_ptr<float>()},
                     settings);
  return norms;
}

}  // namespace che
