#include "models/adam.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace che {

Adam::Adam(const ParameterSet& parameters, const std::vector<double>& rates, double clip)
    : first_moment(at::zeros_like(parameters.values())),
      second_moment(at::zeros_like(parameters.values())),
      learning_rates(at::tensor(rates, at::kDouble).to(parameters.values().options()).unsqueeze(1)),
      clip_norm(clip) {}

at::Tensor Adam::update(ParameterSet& parameters, std::int64_t step) {
  constexpr double kBeta1 = 0.9;
  constexpr double kBeta2 = 0.999;
  constexpr double kEpsilon = 1e-8;
  const c10::NoGradGuard no_grad;
  const at::Tensor norms = at::linalg_vector_norm(parameters.gradients(), 2, at::IntArrayRef{1});
  const at::Tensor gradients =
      parameters.gradients() * (clip_norm / at::clamp_min(norms, clip_norm)).unsqueeze(1);
  first_moment.mul_(kBeta1).add_(gradients, 1 - kBeta1);
  second_moment.mul_(kBeta2).addcmul_(gradients, gradients, 1 - kBeta2);
  const auto updates = static_cast<double>(step + 1);
  const at::Tensor denominator = (second_moment / (1 - std::pow(kBeta2, updates))).sqrt_().add_(kEpsilon);
  parameters.values().sub_(learning_rates * (first_moment / (1 - std::pow(kBeta1, updates))) / denominator);
  return norms;
}

}  // namespace che
