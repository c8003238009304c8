#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/fields.h"
#include "models/encodings/dape_options.h"
#include "models/encodings/encoding_table.h"
#include "models/kernels/attention.h"
#include "models/kernels/kernels.h"
#include "models/model_shape.h"
#include "models/parameter_set.h"
#include "models/parameter_spec.h"
#include "models/positions.h"

namespace che {

// Where in a forward pass an encoding is asked.
struct EncodingPlace {
  std::int64_t layer;        // Or Positions::kEmbeddingLayer.
  std::int64_t tokens;       // T; the keys are tokens 0 .. T-1,
  std::int64_t first_query;  // the queries are tokens first_query .. T-1.
  const Positions& positions;
  ParameterView parameters;   // The encoding's own, of this layer, each (replicas, shape...).
  ParameterView shared;       // Its own beside the embedding, which all layers share, likewise.
  at::TensorOptions options;  // Type and device of the activations.
  Kernels kernels = Kernels::kReference;

  std::int64_t queries() const { return tokens - first_query; }
};

// A positional encoding as a set of hooks that do nothing by default. Stateless: parameters come
// with the place. `shape` of the model is fixed at construction where one needs it.
class Encoding {
 public:
  virtual ~Encoding() = default;

  // Its parameters beside the embedding, which serve all layers, and in every layer.
  virtual std::vector<ParameterSpec> embedding_parameters(const ModelShape&) const { return {}; }
  virtual std::vector<ParameterSpec> layer_parameters(const ModelShape&) const { return {}; }

  // Brings a layer's parameters back into their range, in place; called without gradients before
  // each forward pass.
  virtual void project(const ParameterView&) const {}

  // What to add to the embedding: broadcastable to (replicas, batch, tokens, width); undefined for
  // nothing.
  virtual at::Tensor embedding(const EncodingPlace& place, std::int64_t width) const;

  // Turns queries or keys; `heads` is (replicas, batch, n, heads, head_width) for the tokens
  // first_token .. first_token + n - 1.
  virtual at::Tensor rotate(const at::Tensor& heads, std::int64_t first_token,
                            const EncodingPlace& place) const;

  // The additive bias, by head; undefined for none.
  virtual PairValues bias(const EncodingPlace& place, std::int64_t heads) const;

  // Logits after the encoding had its say. `logits` is (replicas, batch, heads, queries, keys),
  // already scaled by 1/sqrt(head_width); `queries` and `keys` are (replicas, batch, heads, n,
  // head_width), rotated, not scaled. Adds bias() unless overridden.
  virtual at::Tensor logits(const at::Tensor& logits, const at::Tensor& queries, const at::Tensor& keys,
                            const EncodingPlace& place) const;

  // The same in a form that fused attention takes; nothing where there is none, and logits() is called.
  // Just bias() unless overridden, which an encoding must do that overrides logits().
  virtual std::optional<PairTerms> pair_terms(const EncodingPlace& place, std::int64_t heads) const;

  // What it does to tokens whatever they are, for a reader's eye: its bias or what it adds to the
  // embedding, of the first replica, unless overridden; nothing where that takes an input.
  virtual std::optional<EncodingTable> table(const EncodingPlace& place, const ModelShape& shape) const;

  // Values per (query, key) pair at their peak without gradients, by which evaluation sizes its batches:
  // those that logits() holds for every example, beside the logits themselves, and those that bias()
  // holds for all examples at once, which are as many unless overridden.
  virtual double working_values_per_pair(const ModelShape& shape) const;
  virtual double bias_values_per_pair(const ModelShape& shape) const;
};

// The encoding `name` with `options`, wrapped by DAPE where `dape` is given. Throws Error for an
// unknown name, bad options or a base without a bias.
std::unique_ptr<Encoding> create_encoding(std::string_view name, const OptionValues& options = {},
                                          const std::optional<DapeOptions>& dape = {});

// What a registry entry's `make` is for an encoding `E` built from its Options, and from DAPE's
// where it differs inside DAPE.
template <class E, class Options>
std::unique_ptr<Encoding> make_encoding(const OptionValues& values, const std::optional<DapeOptions>& dape) {
  if constexpr (std::is_same_v<Options, NoOptions>) {
    return std::make_unique<E>();
  } else if constexpr (std::is_constructible_v<E, Options, const std::optional<DapeOptions>&>) {
    return std::make_unique<E>(options_from<Options>(values), dape);
  } else {
    return std::make_unique<E>(options_from<Options>(values));
  }
}

}  // namespace che
