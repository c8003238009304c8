#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"
#include "models/architectures/model.h"

namespace che {

// The values that an encoding adds to every attention logit of one sample.
struct AttentionBias {
  std::string encoding;  // As tables label it.
  std::string task;
  std::int64_t length = 0;  // Asked of the task.
  std::int64_t sample = 0;  // Index among the evaluation samples.
  std::int64_t step = 0;    // Updates that the model has seen.
  bool has_f = false;       // DAPE's f is part of `adapted`.
  bool adds_bias = true;    // B itself is part of `adapted`.
  bool causal = false;      // A query sees the keys up to its own token only.

  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t tokens = 0;
  std::int64_t first_output = 0;  // Tokens before it are the input, the others stand for the output.

  // (layers, queries, keys): position of the key minus that of the query, as the encoding sees them.
  std::vector<double> distance = {};

  // (layers, heads, queries, keys) each, tokens as queries and keys.
  std::vector<float> logit = {};    // A, q k / sqrt(d_head)
  std::vector<float> bias = {};     // B
  std::vector<float> adapted = {};  // The logits that the softmax sees, minus A.

  // f at a place of the vectors above, where there is one.
  float f(std::size_t i) const { return adds_bias ? adapted[i] - bias[i] : adapted[i]; }

  std::size_t index(std::int64_t layer, std::int64_t head, std::int64_t query, std::int64_t key) const {
    return static_cast<std::size_t>(((layer * heads + head) * tokens + query) * tokens + key);
  }
};

// layer,head,query,key,output,distance,logit,bias,adapted, and f where there is one: a line per pair of which
// the query sees the key, all counted from 0. `output` is 1 where the key stands for the output, else 0.
std::string attention_bias_csv(const AttentionBias& bias);

// Throws Error unless the run's encoding adds a bias to attention logits, whether or not DAPE adapts it.
void check_gives_bias(const RunConfig& config);

// Returns the attention of `model`, one replica of the run `config`, over its evaluation sample number
// `sample` at `length`, without dropout. Throws Error for a model without attention, for a length or sample
// out of range and for one that would take more than `memory_gib`.
AttentionBias capture_bias(const Model& model, const RunConfig& config, std::int64_t length,
                           std::int64_t sample, double memory_gib);

}  // namespace che
