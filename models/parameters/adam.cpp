#include "models/parameters/adam.h"

#include <ATen/ATen.h>

#include <utility>

#include "models/ops/adam/adam_update.h"

namespace che {

Adam::Adam(const ParameterSet& parameters, const std::vector<double>& rates, double clip, Backend which)
    : first_moment(at::zeros_like(parameters.values())),
      second_moment(at::zeros_like(parameters.values())),
      learning_rates(at::tensor(rates, at::kDouble).to(parameters.values().options()).unsqueeze(1)),
      clip_norm(clip),
      backend(std::move(which)) {}

AdamSettings Adam::settings(std::int64_t step, double rate_fraction) const {
  return {.clip_norm = clip_norm, .rate_fraction = rate_fraction, .updates = step + 1};
}

at::Tensor Adam::update(ParameterSet& parameters, std::int64_t step, double rate_fraction) {
  return adam_update(parameters.gradients(), learning_rates, first_moment, second_moment, parameters.values(),
                     settings(step, rate_fraction), backend);
}

}  // namespace che
