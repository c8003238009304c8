#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace che {

// What an encoding adds to every attention logit of one sample.
struct AttentionBias {
  std::string encoding;  // As tables label it.
  std::string task;
  std::int64_t length = 0;  // Asked of the task.
  std::int64_t sample = 0;  // Which of the evaluation samples.
  std::int64_t step = 0;    // Updates that the model has seen.
  bool has_f = false;       // Whether DAPE's f is part of `adapted`,
  bool adds_bias = true;    // and whether B itself is.

  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t tokens = 0;
  std::int64_t first_output = 0;  // Tokens before it are the input, the others stand for the output.

  // (layers, heads, queries, keys) each, tokens as queries and keys.
  std::vector<float> logit = {};    // A, q k / sqrt(d_head)
  std::vector<float> bias = {};     // B
  std::vector<float> adapted = {};  // What the softmax sees minus A.

  // f at a place of the vectors above, where there is one.
  float f(std::size_t i) const { return adds_bias ? adapted[i] - bias[i] : adapted[i]; }

  std::size_t index(std::int64_t layer, std::int64_t head, std::int64_t query, std::int64_t key) const {
    return static_cast<std::size_t>(((layer * heads + head) * tokens + query) * tokens + key);
  }
};

// Bytes of memory that a pair of a query and a key takes, for one head, with its line of CSV.
inline constexpr double kAttentionBiasBytes = 12 + 64;

// layer,head,query,key,logit,bias,adapted, and f where there is one: a line per value, all counted from 0.
std::string attention_bias_csv(const AttentionBias& bias);

}  // namespace che
