#include "models/encodings/encoding_hooks.h"

#include <ATen/ATen.h>

#include "models/encodings/dape.h"
#include "models/encodings/encoding.h"

namespace che {

at::Tensor Encoding::embedding(const EncodingPlace&, std::int64_t) const { return {}; }

at::Tensor Encoding::rotate(const at::Tensor& heads, std::int64_t, const EncodingPlace&) const {
  return heads;
}

PairValues Encoding::bias(const EncodingPlace&, std::int64_t) const { return {}; }

at::Tensor Encoding::logits(const at::Tensor& logits, const at::Tensor&, const at::Tensor&,
                            const EncodingPlace& place) const {
  const PairValues additive = bias(place, logits.size(2));
  return additive.defined() ? logits + additive.dense(place.queries(), place.tokens).unsqueeze(1) : logits;
}

std::optional<PairTerms> Encoding::pair_terms(const EncodingPlace& place, std::int64_t heads) const {
  return PairTerms{bias(place, heads)};
}

std::optional<EncodingTable> Encoding::table(const EncodingPlace& place, const ModelShape& shape) const {
  if (const PairValues additive = bias(place, shape.heads); additive.defined()) {
    return make_table({"head", "query", "key", "bias"}, {{}, {}, {}},
                      additive.dense(place.queries(), place.tokens)[0]);
  }
  const EncodingPlace beside_embedding{Positions::kEmbeddingLayer,
                                       place.tokens,
                                       0,
                                       place.positions,
                                       place.shared,
                                       place.shared,
                                       place.options};
  const at::Tensor added = embedding(beside_embedding, shape.width);
  if (!added.defined()) return std::nullopt;
  return make_table({"position", "feature", "value"},
                    {place.positions.of_tokens(Positions::kEmbeddingLayer, place.tokens), {}},
                    added.reshape({-1, place.tokens, shape.width})[0]);
}

double Encoding::working_values_per_pair(const ModelShape& shape) const {
  return static_cast<double>(shape.heads);
}

double Encoding::bias_values_per_pair(const ModelShape& shape) const {
  return working_values_per_pair(shape);
}

std::unique_ptr<Encoding> create_encoding(std::string_view name, const OptionValues& options,
                                          const std::optional<DapeOptions>& dape) {
  const EncodingEntry& entry = Registry<EncodingEntry>::instance().get(name);
  std::unique_ptr<Encoding> encoding = entry.make(options, dape);
  if (!dape) return encoding;
  if (!entry.gives_bias) {
    throw Error("encoding.dape: '" + entry.name + "' gives no additive bias that DAPE could adapt");
  }
  return std::make_unique<Dape>(std::move(encoding), *dape);
}

}  // namespace che
