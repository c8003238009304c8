#include "models/parameters/adam.h"

#include <ATen/ATen.h>

#include <utility>

#include "models/ops/adam/adam_update.h"
#include "models/ops/device/step_uploads.h"

namespace che {

namespace {

// "ffn.b1", "out.b", "attn.bq": a bias is b with at most one character behind it.
bool is_bias(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return last.front() == 'b' && last.size() <= 2;
}

// "layer0.ln1.scale": a LayerNorm's name begins with ln.
bool is_of_layer_norm(std::string_view name) {
  return name.starts_with("ln") || name.find(".ln") != std::string_view::npos;
}

at::Tensor decay_of(const ParameterSet& parameters, double weight_decay) {
  if (weight_decay == 0) return {};
  std::vector<at::Tensor> parts;
  for (const ParameterSpec& spec : parameters.specs()) {
    parts.push_back(at::full({1, parameter_count({spec})}, decays(spec.name) ? weight_decay : 0.0,
                             parameters.values().options()));
  }
  return at::cat(parts, 1);
}

}  // namespace

bool decays(std::string_view name) { return !is_bias(name) && !is_of_layer_norm(name); }

Adam::Adam(const ParameterSet& parameters, const std::vector<double>& rates, const AdamOptions& with,
           Backend which)
    : first_moment(at::zeros_like(parameters.gradients())),
      second_moment(at::zeros_like(parameters.gradients())),
      learning_rates(at::tensor(rates, at::kDouble).to(parameters.values().options()).unsqueeze(1)),
      decay(decay_of(parameters, with.weight_decay)),
      options(with),
      backend(std::move(which)) {}

AdamSettings Adam::settings(std::int64_t step, double fraction) const {
  return {
      .beta2 = options.beta2, .clip_norm = options.clip_norm, .rate_fraction = fraction, .updates = step + 1};
}

at::Tensor Adam::update(ParameterSet& parameters, std::int64_t step, double fraction) {
  rate_fraction = fraction;
  if (decay.defined()) {
    const at::Tensor now = upload_each_step(
        backend,
        [this] {
          return at::full({1, 1}, rate_fraction);
        },
        parameters.values().options());
    parameters.values().mul_(1 - learning_rates * now * decay);
  }
  return adam_update(parameters.gradients(), learning_rates, first_moment, second_moment, parameters.values(),
                     settings(step, fraction), backend);
}

}  // namespace che
