#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/ops/device/backend.h"
#include "models/parameters/parameter_set.h"

namespace che {

struct AdamOptions {
  double clip_norm = 1;
  double beta2 = 0.999;
  double weight_decay = 0;  // Decoupled from the gradient (AdamW, arXiv 1711.05101).
};

// Whether weight decay takes from a parameter of this name: from all but LayerNorms and biases of linear
// maps, as in GPT-NeoX (get_params_for_weight_decay_optimization of its megatron/model/utils.py).
bool decays(std::string_view name);

// Adam's state for a set of parameters; see adam_update() for the formula. Every replica has its own learning
// rate. Before each update, the parameters that decay lose the share weight_decay times the learning rate.
struct Adam {
  at::Tensor first_moment;    // (replicas, size)
  at::Tensor second_moment;   // (replicas, size)
  at::Tensor learning_rates;  // (replicas, 1)
  at::Tensor decay;           // (1, size), weight_decay or 0; undefined where nothing decays.
  AdamOptions options;
  Backend backend;
  double rate_fraction = 1;  // Of the step at hand, where uploads of its graph find it.

  Adam(const ParameterSet& parameters, const std::vector<double>& rates, const AdamOptions& with,
       Backend which);

  // Returns the settings of update number `step` (from 0) at that fraction of the learning rates.
  AdamSettings settings(std::int64_t step, double fraction) const;

  // Update number `step` (from 0) of `parameters` by their gradients, at that fraction of the learning rates.
  // Returns the norms before clipping, (replicas).
  at::Tensor update(ParameterSet& parameters, std::int64_t step, double fraction = 1);
};

}  // namespace che
