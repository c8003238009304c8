#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/config/fields.h"
#include "models/ops/attention/attention_terms.h"
#include "models/ops/device/backend.h"
#include "models/parameters/parameter_set.h"
#include "models/settings/encoding_entry.h"
#include "models/settings/model_shape.h"
#include "models/settings/parameter_spec.h"
#include "models/settings/positions.h"

namespace che {

// Tables that an encoding computes on the host from positions alone, such as sines and distances, on the
// device of a model. With contiguous positions they are the same in every step, so that each is computed and
// copied once. It holds 64 MiB at most: before one too many it forgets all others. Serves one thread.
class TableCache {
 public:
  // The table's name, the number of tokens, and the first token that is a query.
  using Key = std::tuple<std::string, std::int64_t, std::int64_t>;

  // Returns the table of that key; `build` computes it unless it is there.
  at::Tensor get(Key key, const std::function<at::Tensor()>& build);

 private:
  std::map<Key, at::Tensor> tables_;
  std::size_t bytes_ = 0;
};

// Numbers by index, for a reader's eye: a row for every combination of its keys.
struct EncodingTable {
  std::vector<std::string> columns;       // Names of the keys, then of the values.
  std::vector<std::vector<double>> keys;  // The values of each key; the first one changes slowest.
  std::vector<double> values;             // Row after row.

  // With a header line; numbers have the digits of single precision.
  std::string csv() const;
};

// The table of `values` (key..., or key..., value columns), one axis a key; a key whose entry in
// `keys` is empty counts from 0.
EncodingTable make_table(std::vector<std::string> columns, std::vector<std::vector<double>> keys,
                         const at::Tensor& values);

// Attention multiplies queries with keys.
enum class Operand : std::uint8_t { kQueries, kKeys };

// The place in a forward pass at which an encoding is called.
struct EncodingContext {
  const ModelShape& shape;
  std::int64_t layer;          // Or Positions::kEmbeddingLayer.
  std::int64_t tokens;         // T; the keys are tokens 0 .. T-1,
  std::int64_t first_query;    // the queries are tokens first_query .. T-1.
  const Positions& positions;  // Outlives the context.
  ParameterView parameters;    // The encoding's own, of this layer, each (replicas, shape...).
  ParameterView shared;        // Its own next to the embedding, which all layers share, likewise.
  const Backend& backend;
  TableCache& tables;           // The model's.
  at::Tensor logit_scale = {};  // Encoding::logit_scale() of this layer, for terms that add to A's products.
  at::Tensor input = {};        // The layer's, (replicas, batch, tokens, width); undefined outside of a pass.

  std::int64_t queries() const { return tokens - first_query; }
  std::int64_t first_token(Operand operand) const { return operand == Operand::kQueries ? first_query : 0; }

  // Returns the same place for `count` queries, the last ones of the first `part` tokens.
  EncodingContext of_queries(std::int64_t part, std::int64_t count) const;

  // Returns `build(positions)`, a table that the host computes from positions, tokens and the encoding's
  // options, with the type and on the device of the activations. `name` distinguishes the tables of the
  // encoding. On a GPU the table is kept where positions are contiguous. Otherwise a training step may be
  // replayed with other positions, so that `build` outlives the call and refers to nothing that dies with it.
  using Builder = std::function<at::Tensor(const Positions&)>;
  at::Tensor table(std::string_view name, const Builder& build) const;

  // Returns `build()` likewise, a table that depends on the encoding's options alone.
  at::Tensor table(std::string_view name, const std::function<at::Tensor()>& build) const;

  // Returns `compute()`, which the device computes from tables, place and the encoding's options. Kept as a
  // table() is.
  at::Tensor computed_table(std::string_view name, const std::function<at::Tensor()>& compute) const;

  // Returns the positions of all tokens as a table().
  at::Tensor token_positions() const;
};

// Rows of sin(p w_k), then cos(p w_k), w_k = max_time^(-2k/width), k = 0 .. width/2 - 1: all sines
// first, (positions, width). Computed in double. `width` is even.
at::Tensor sinusoid(const Positions::List& positions, std::int64_t width, double max_time = 10000);

// A positional encoding as a set of hooks that do nothing by default. Stateless: parameters come
// with the context.
class Encoding {
 public:
  virtual ~Encoding() = default;

  // Its parameters next to the embedding, which serve all layers, and in every layer.
  virtual std::vector<ParameterSpec> embedding_parameters(const ModelShape&) const { return {}; }
  virtual std::vector<ParameterSpec> layer_parameters(const ModelShape&) const { return {}; }

  // Brings a layer's parameters back into their range, in place and without gradients; see Model::project.
  virtual void project(const ParameterView&) const {}

  // Returns the addition to the embedding: broadcastable to (replicas, batch, tokens, width); undefined for
  // nothing.
  virtual at::Tensor embedding(const EncodingContext& context) const;

  // Turns the queries or the keys; `heads` is (replicas, batch, queries or tokens, heads, head_width). The
  // result may be wider, with one width for both.
  virtual at::Tensor rotate(const at::Tensor& heads, Operand operand, const EncodingContext& context) const;

  // Returns the factor of the logits A of rotated queries and keys, before the terms: (replicas or 1, 1,
  // queries or 1, heads or 1, 1); undefined for 1.
  virtual at::Tensor logit_scale(const EncodingContext&) const { return {}; }

  // Returns the change of the scaled logits of rotated queries and keys: an additive bias, one that an MLP
  // adapts, or any other function. Serves as long as the encoding and what `context` refers to.
  virtual AttentionTerms attention_terms(const EncodingContext& context) const;

  // Returns what is added to the logits after the terms, by offset: 0 at keys that a head sees and
  // kOutOfSight at others; undefined where every head sees all.
  virtual PairValues mask(const EncodingContext&) const { return {}; }

  // Returns the effect on tokens whatever they are, for people to read: the first replica's bias or addition
  // to the embedding, unless overridden; nothing where that takes an input.
  virtual std::optional<EncodingTable> table(const EncodingContext& context) const;
};

// Tokens of the longest training sequence of a run; 0 where there is no training, as in a picture of an
// encoding.
struct TrainedTokens {
  std::int64_t count = 0;
};

// Creates the encoding of the EncodingEntry of that name. With `dape`, the result is to be wrapped by it.
struct EncodingMaker {
  std::string name;
  std::function<std::unique_ptr<Encoding>(const AnyOptions& options, const std::optional<DapeOptions>& dape,
                                          TrainedTokens trained)>
      make;

  static const char* kind() { return "encoding"; }
};

// The encoding `name` with `options`, wrapped by DAPE where `dape` is given, beside attention with `scale`
// and `window`. Throws Error for an unknown name, bad options or a base without a bias.
std::unique_ptr<Encoding> create_encoding(std::string_view name, const AnyOptions& options = {},
                                          const std::optional<DapeOptions>& dape = {},
                                          TrainedTokens trained = {},
                                          AttentionScale scale = AttentionScale::kSqrtD,
                                          AttentionWindow window = {});

// The `make` of an encoding `E`, whose members `options`, `dape` and `trained` get what their names say, as
// far as it has them.
template <class E>
std::unique_ptr<Encoding> make_encoding([[maybe_unused]] const AnyOptions& options,
                                        [[maybe_unused]] const std::optional<DapeOptions>& dape,
                                        [[maybe_unused]] TrainedTokens trained) {
  auto encoding = std::make_unique<E>();
  if constexpr (requires { encoding->options; }) {
    encoding->options = options.as<std::decay_t<decltype(encoding->options)>>();
  }
  if constexpr (requires { encoding->dape; }) encoding->dape = dape;
  if constexpr (requires { encoding->trained; }) encoding->trained = trained;
  return encoding;
}

}  // namespace che
