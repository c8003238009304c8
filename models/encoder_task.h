#pragma once

#include <cstdint>

namespace che {

// The one place that says what workload the model serves: it is an encoder that maps a sequence to the last
// symbols of it. A task's input is followed by `outputs` empty symbols, every token attends to every other,
// and the answer is read off those last tokens. What would differ elsewhere:
//
//   a decoder:        attention over keys 0 .. i only (AttentionTerms would carry a mask), encodings of
//   distances
//                     that look to the left only (DistanceOptions::direction), logits at every token;
//   text, perplexity: `classes` equal to `inputs`, logits at every token, targets shifted by one;
//   a recurrent model: no positions and no encoding, the same tokens and outputs.
//
// Transformer::forward() and the experiments rely on this and state nothing of it themselves.
struct Vocabulary {
  std::int64_t inputs = 0;   // Symbols of a task's input.
  std::int64_t classes = 0;  // Symbols of its output.

  // The token where an output symbol is expected, and the number of tokens there are.
  std::int64_t empty_symbol() const { return inputs; }
  std::int64_t tokens() const { return inputs + 1; }
};

// The first token of a sequence whose answer is asked for; the last layer is computed from there on.
constexpr std::int64_t first_output_token(std::int64_t tokens, std::int64_t outputs) {
  return tokens - outputs;
}

}  // namespace che
