#include "models/kernels/reference/adam.h"

#include <ATen/ATen.h>

#include <cmath>

namespace che::reference {

at::Tensor adam_update(const at::Tensor& gradients, const at::Tensor& learning_rates,
                       const at::Tensor& first_moment, const at::Tensor& second_moment,
                       const at::Tensor& values, const AdamSettings& settings) {
  at::Tensor norms = at::linalg_vector_norm(gradients, 2, at::IntArrayRef{1});
  const at::Tensor clipped =
      gradients * (settings.clip_norm / at::clamp_min(norms, settings.clip_norm)).unsqueeze(1);
  first_moment.mul_(settings.beta1).add_(clipped, 1 - settings.beta1);
  second_moment.mul_(settings.beta2).addcmul_(clipped, clipped, 1 - settings.beta2);
  const auto updates = static_cast<double>(settings.updates);
  const at::Tensor denominator =
      (second_moment / (1 - std::pow(settings.beta2, updates))).sqrt_().add_(settings.epsilon);
  values.sub_(settings.rate_fraction * learning_rates *
              (first_moment / (1 - std::pow(settings.beta1, updates))) / denominator);
  return norms;
}

}  // namespace che::reference
