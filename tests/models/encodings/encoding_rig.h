#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"
#include "models/encodings/encoding.h"
#include "models/parameters/parameter_set.h"

namespace che {

// Tokens of the longest sequence that a rig's encoding counts as trained on.
inline constexpr std::int64_t kTrainedTokens = 4;

// An encoding with the parameters that `shape` gives it, in double, and no transformer around.
class EncodingRig {
 public:
  EncodingRig(const EncodingConfig& config, const ModelShape& shape, std::int64_t replicas);

  // Draws every parameter; those that start from a constant are normal around it, so that none
  // is idle.
  void randomise(std::int64_t seed);

  const ModelShape& shape() const { return shape_; }
  ParameterSet& parameters() { return parameters_; }
  // A parameter of this layer or, failing that, beside the embedding.
  const at::Tensor& parameter(std::int64_t layer, const std::string& name) const;

  // Logits of the queries from `first_query` on, (replicas, batch, heads, queries, keys), of q and k
  // (replicas, batch, tokens, heads, head_width) before rotation. The layer's input is q unless it is given.
  at::Tensor logits(const at::Tensor& q, const at::Tensor& k, const Positions& positions,
                    std::int64_t layer = 0, std::int64_t first_query = 0, const at::Tensor& input = {}) const;

  // What is added to the embedding of `tokens` tokens; undefined for nothing.
  at::Tensor embedding(std::int64_t tokens, const Positions& positions) const;

 private:
  ModelShape shape_;
  std::unique_ptr<Encoding> encoding_;
  ParameterSet parameters_;
  mutable TableCache tables_;
};

// Every combination of the options of encoding `name` that are choices.
std::vector<OptionValues> option_combinations(const std::string& name);

// `shape` filled with numbers between -2 and 2 that depend on `seed`, in double.
at::Tensor some_numbers(const std::vector<std::int64_t>& shape, std::uint64_t seed);

}  // namespace che
