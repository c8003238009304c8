#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/encoder_task.h"
#include "models/encodings/encoding.h"
#include "models/ops/attention/attention.h"
#include "models/ops/device/backend.h"
#include "models/ops/dropout/dropout_mask.h"
#include "models/ops/embedding/embedding.h"
#include "models/parameters/parameter_set.h"
#include "models/settings/model_shape.h"
#include "models/settings/positions.h"

namespace che {

// Every parameter of a transformer, in the order of its layers. Linear maps are y = x W + b, with
// names and layout of the reference files ("layer0.attn.wq", (in, out)).
std::vector<ParameterSpec> transformer_parameters(const ModelShape& shape, const Vocabulary& vocabulary,
                                                  const Encoding& encoding);

// Is called with every layer's logits in a forward pass.
using AttentionObserver = std::function<void(std::int64_t layer, const AttentionLogits& logits)>;

// The benchmark's encoder (post-norm, no mask, arXiv 2305.16843), for several replicas that see the
// same tokens: layer by layer
//
//   a  = LN1(x + drop(Attention(x))),  x' = LN2(a + drop(W2 relu(W1 a + b1) + b2)).
class Transformer {
 public:
  // Parameters are zero until initialised or loaded.
  Transformer(const ModelShape& shape, const Vocabulary& vocabulary, std::unique_ptr<Encoding> encoding,
              std::int64_t replicas, const Backend& backend);

  ParameterSet& parameters() { return parameters_; }
  const ParameterSet& parameters() const { return parameters_; }
  const ModelShape& shape() const { return shape_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  const Backend& backend() const { return backend_; }

  // Logits of the last `outputs` tokens, (replicas, batch, outputs, classes), from tokens (batch,
  // tokens) of type long, empty symbols included. The last layer computes its queries, projection
  // and FFN for those tokens only, and `observer` sees those queries of it.
  at::Tensor forward(const at::Tensor& tokens, std::int64_t outputs, const Positions& positions,
                     const Dropout& dropout, const AttentionObserver& observer = {}) const;

  // What the encoding does to `tokens` tokens whatever they are, in the first layer of the first
  // replica; nothing where that takes an input.
  std::optional<EncodingTable> encoding_table(std::int64_t tokens, const Positions& positions) const;

  // Lets the encoding bring its parameters back into range; to be called before a forward pass.
  void project();

 private:
  // A batch before its first layer, where all tokens of one symbol are the same: what is linear in their
  // vectors is computed once per symbol.
  struct EmbeddedInput {
    Embedding tokens;
    at::Tensor vectors;  // (replicas, symbols, width)
  };

  // Before W_o. `input`: what x consists of, where x is nothing else; else null.
  at::Tensor attend(const at::Tensor& x, const EmbeddedInput* input, std::int64_t layer,
                    std::int64_t first_query, const Positions& positions,
                    const AttentionObserver& observer) const;
  EncodingContext context_of(std::int64_t layer, std::int64_t tokens, std::int64_t first_query,
                             const Positions& positions) const;

  ModelShape shape_;
  Vocabulary vocabulary_;
  std::unique_ptr<Encoding> encoding_;
  ParameterSet parameters_;
  Backend backend_;
  mutable TableCache tables_;
};

}  // namespace che
