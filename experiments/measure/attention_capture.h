#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"
#include "models/architectures/model.h"

namespace che {

// The values that an encoding adds to attention logits of one sample: to every one, or to those of one query.
struct AttentionBias {
  std::string encoding;     // As tables label it.
  std::string subject;      // The task or the text.
  std::int64_t length = 0;  // Asked of the task, or the tokens of a text's window.
  std::int64_t sample = 0;  // Index among the evaluation samples.
  std::int64_t step = 0;    // Updates that the model has seen.
  bool has_f = false;       // DAPE's f is part of `adapted`.
  bool adds_bias = true;    // B itself is part of `adapted`.
  bool causal = false;      // A query sees the keys up to its own token only.

  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t tokens = 0;
  // Tokens before it are the input, the others stand for the output. A text's are all input.
  std::int64_t first_output = 0;
  std::int64_t chosen_query = 0;  // The token that was chosen.
  bool has_all_queries = true;

  std::int64_t first_query() const { return has_all_queries ? 0 : chosen_query; }
  std::int64_t queries() const { return has_all_queries ? tokens : 1; }

  // (layers, queries, keys): position of the key minus that of the query, as the encoding sees them.
  std::vector<double> distance = {};

  // (layers, heads, queries, keys) each, the keys are all tokens.
  std::vector<float> logit = {};    // A, q k / sqrt(d_head)
  std::vector<float> bias = {};     // B
  std::vector<float> adapted = {};  // The logits that the softmax sees, minus A.

  // f at a place of the vectors above, where there is one.
  float f(std::size_t i) const { return adds_bias ? adapted[i] - bias[i] : adapted[i]; }

  std::size_t index(std::int64_t layer, std::int64_t head, std::int64_t query, std::int64_t key) const {
    return static_cast<std::size_t>(((layer * heads + head) * queries() + query - first_query()) * tokens +
                                    key);
  }
};

// layer,head,query,key,output,distance,logit,bias,adapted, and f where there is one: a line per pair of which
// the query sees the key in this head, all counted from 0. `output` is 1 where the key stands for the output,
// else 0.
std::string attention_bias_csv(const AttentionBias& bias);

// Throws Error unless the run's encoding adds a bias to attention logits, whether or not DAPE adapts it.
void check_gives_bias(const RunConfig& config);

// A CSV file of a text has at most so many lines. Windows with more pairs have those of one query alone.
inline constexpr std::int64_t kMaxTextPairs = std::int64_t{1} << 20;

// Which attention is captured.
struct CaptureChoice {
  std::int64_t length = 0;
  std::int64_t sample = 0;                 // Index among the evaluation samples.
  std::optional<std::int64_t> query = {};  // The first output token unless given; the last token of a text.
  double memory_gib = 1;
};

// Returns the attention of `model`, one replica of the run `config`, over this sample, without dropout. With
// one query, memory grows as that of an evaluation does. Throws Error for a model without attention, and for
// a length, sample or query out of range. Throws it too for a text with more than kMaxTextPairs for one
// query, and for a sample that would take more than `memory_gib`.
AttentionBias capture_bias(const Model& model, const RunConfig& config, const CaptureChoice& choice);

}  // namespace che
