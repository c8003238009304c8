#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"
#include "models/architectures/encoder_model.h"

namespace che {

// Small models of every encoding.

// The names of every_encoding().
std::vector<std::string> all_labels();

// A run of such a name, or of a shorthand.
RunConfig small_config(const std::string& label);

std::vector<DapeVariant> dape_variants();

// As configs write it.
std::string word_of(DapeVariant variant);

// One replica per seed. What an encoding starts from a constant differs from it, so that none is idle.
std::unique_ptr<Model> initialised(const RunConfig& config, const std::vector<std::int64_t>& seeds);

at::Tensor some_tokens(std::int64_t batch, std::int64_t length);

// At the same draw of positions each time, without dropout.
at::Tensor forward(const Model& model, const RunConfig& config, const at::Tensor& tokens,
                   std::int64_t outputs);

// Expects the model as a whole, dropout included, to give the same with both kernels: value and gradient of
// every parameter; and the fused ones to cover attention but for the encodings that compose it.
void expect_fused_equals_reference(RunConfig config);

}  // namespace che
