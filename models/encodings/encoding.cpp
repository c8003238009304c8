#include "models/encodings/encoding.h"

#include <ATen/ATen.h>

#include "models/encodings/dape.h"
#include "models/ops/device/step_uploads.h"
#include "models/settings/encoding_entry.h"

namespace che {

at::Tensor EncodingContext::table(std::string_view name, const Builder& build) const {
  // On a CPU there is nothing to copy, and the measured memory of an evaluation, which decides how it is
  // split, must not depend on earlier passes.
  if (backend.device().is_cpu()) return upload(build(positions), backend.options);
  if (!positions.contiguous()) {
    return upload_each_step(
        backend, [&from = positions, build] { return build(from); }, backend.options);
  }
  return kept_for_steps(backend, [&] {
    return tables.get({std::string(name), tokens, first_query},
                      [&] { return upload(build(positions), backend.options); });
  });
}

at::Tensor EncodingContext::table(std::string_view name, const std::function<at::Tensor()>& build) const {
  const auto upload_built = [&] { return upload(build(), backend.options); };
  if (backend.device().is_cpu()) return upload_built();
  return kept_for_steps(backend, [&] { return tables.get({std::string(name), 0, 0}, upload_built); });
}

at::Tensor EncodingContext::token_positions() const {
  return table("positions", [layer = layer, tokens = tokens](const Positions& from) {
    return whole_numbers(from.of_tokens(layer, tokens));
  });
}

at::Tensor whole_numbers(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }

at::Tensor Encoding::embedding(const EncodingContext&) const { return {}; }

at::Tensor Encoding::rotate(const at::Tensor& heads, std::int64_t, const EncodingContext&) const {
  return heads;
}

AttentionTerms Encoding::attention_terms(const EncodingContext&) const { return PairValues(); }

std::optional<EncodingTable> Encoding::table(const EncodingContext& context) const {
  const AttentionTerms terms = attention_terms(context);
  if (const auto* const bias = std::get_if<PairValues>(&terms); bias != nullptr && bias->defined()) {
    return make_table({"head", "query", "key", "bias"}, {{}, {}, {}},
                      bias->dense(context.queries(), context.tokens)[0]);
  }
  EncodingContext of_embedding = context;
  of_embedding.layer = Positions::kEmbeddingLayer;
  of_embedding.first_query = 0;
  of_embedding.parameters = context.shared;
  const at::Tensor added = embedding(of_embedding);
  if (!added.defined()) return std::nullopt;
  return make_table({"position", "feature", "value"},
                    {context.positions.of_tokens(Positions::kEmbeddingLayer, context.tokens), {}},
                    added.reshape({-1, context.tokens, context.shape.width})[0]);
}

std::unique_ptr<Encoding> create_encoding(std::string_view name, const AnyOptions& options,
                                          const std::optional<DapeOptions>& dape, TrainedTokens trained) {
  const EncodingEntry& entry = Registry<EncodingEntry>::instance().get(name);
  std::unique_ptr<Encoding> encoding =
      Registry<EncodingMaker>::instance().get(name).make(options.or_defaults(entry.options), dape, trained);
  if (!dape) return encoding;
  if (!entry.takes_dape()) {
    throw Error("encoding.dape: '" + entry.name + "' gives no additive bias that DAPE could adapt");
  }
  return std::make_unique<Dape>(std::move(encoding), *dape);
}

}  // namespace che
