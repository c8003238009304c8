#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/dropout.h"
#include "models/encodings/encoding_hooks.h"
#include "models/encodings/encoding_table.h"
#include "models/model_shape.h"
#include "models/parameter_set.h"
#include "models/positions.h"

namespace che {

// The symbols a task's model reads and predicts.
struct Vocabulary {
  std::int64_t inputs = 0;   // Input symbols; the id of the empty symbol behind them is `inputs`.
  std::int64_t classes = 0;  // Output symbols.
};

// Every parameter of a transformer, in the order of its layers. Linear maps are y = x W + b, with
// names and layout of the reference files ("layer0.attn.wq", (in, out)).
std::vector<ParameterSpec> transformer_parameters(const ModelShape& shape, const Vocabulary& vocabulary,
                                                  const Encoding& encoding);

// What a layer's attention adds up to before its softmax.
struct AttentionLogits {
  std::int64_t layer;
  at::Tensor scaled;  // q k / sqrt(head_width), A: (replicas, batch, heads, queries, keys)
  at::Tensor bias;    // The encoding's additive bias, B: (replicas or 1, heads, queries, keys), or undefined
  at::Tensor total;   // What the softmax sees, like `scaled`.
};

// Is told of every layer's attention in a forward pass.
using AttentionObserver = std::function<void(const AttentionLogits& logits)>;

// The benchmark's encoder (post-norm, no mask, arXiv 2305.16843), for several replicas that see the
// same tokens: layer by layer
//
//   a  = LN1(x + drop(Attention(x))),  x' = LN2(a + drop(W2 relu(W1 a + b1) + b2)).
class Transformer {
 public:
  // `options`: type and device. Parameters are zero until initialised or loaded.
  Transformer(const ModelShape& shape, const Vocabulary& vocabulary, std::unique_ptr<Encoding> encoding,
              std::int64_t replicas, const at::TensorOptions& options, Kernels kernels = Kernels::kReference);

  ParameterSet& parameters() { return parameters_; }
  const ParameterSet& parameters() const { return parameters_; }
  const ModelShape& shape() const { return shape_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // Logits of the last `outputs` tokens, (replicas, batch, outputs, classes), from tokens (batch,
  // tokens) of type long, empty symbols included. The last layer computes its queries, projection
  // and FFN for those tokens alone, and `observer` sees those queries of it.
  at::Tensor forward(const at::Tensor& tokens, std::int64_t outputs, const Positions& positions,
                     const Dropout& dropout, const AttentionObserver& observer = {}) const;

  // What the encoding does to `tokens` tokens whatever they are, in the first layer of the first
  // replica; nothing where that takes an input.
  std::optional<EncodingTable> encoding_table(std::int64_t tokens, const Positions& positions) const;

  // Lets the encoding bring its parameters back into range; to be called before a forward pass.
  void project();

  // Bytes that a batch of `examples` of `tokens` symbols takes in a forward pass without gradients, for
  // one replica, at its peak: an upper estimate. An observer keeps attention from being fused.
  double forward_bytes(std::int64_t tokens, std::int64_t examples, bool observed = false) const;

 private:
  // A batch before its first layer, where nothing tells tokens of one symbol apart: what is linear in
  // their vectors is computed once a symbol.
  struct Symbols {
    at::Tensor one_hot;  // (replicas, batch, tokens, symbols)
    at::Tensor vectors;  // (replicas, symbols, width)

    // (replicas, symbols, n), by token from `first` on: (replicas, batch, tokens - first, n).
    at::Tensor rows(const at::Tensor& of_symbols, std::int64_t first) const;
  };

  // Before W_o. `symbols`: what x consists of, where it is that alone.
  at::Tensor attention(const at::Tensor& x, const Symbols* symbols, std::int64_t layer,
                       std::int64_t first_query, const Positions& positions,
                       const AttentionObserver& observer) const;
  // What fused attention takes from the encoding; nothing where attention is not fused.
  std::optional<PairTerms> fused_terms(const EncodingPlace& place) const;
  EncodingPlace place_in(std::int64_t layer, std::int64_t tokens, std::int64_t first_query,
                         const Positions& positions) const;

  ModelShape shape_;
  Vocabulary vocabulary_;
  std::unique_ptr<Encoding> encoding_;
  ParameterSet parameters_;
  at::TensorOptions options_;
  Kernels kernels_;
};

}  // namespace che
