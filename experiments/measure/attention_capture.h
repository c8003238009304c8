#pragma once

#include <cstdint>

#include "experiments/plan/run_config.h"
#include "experiments/results/attention_bias.h"
#include "models/architectures/model.h"

namespace che {

// Throws Error unless the run's encoding adds a bias to attention logits, whether or not DAPE adapts it.
void check_gives_bias(const RunConfig& config);

// Returns the attention of `model`, one replica of the run `config`, over its evaluation sample number
// `sample` at `length`, without dropout. Throws Error for a model without attention, for a length or sample
// out of range and for one that would take more than `memory_gib`.
AttentionBias capture_bias(const Model& model, const RunConfig& config, std::int64_t length,
                           std::int64_t sample, double memory_gib);

}  // namespace che
