#include "models/encodings/encoding.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <numeric>
#include <utility>

#include "models/encodings/attention_settings.h"
#include "models/ops/device/step_uploads.h"
#include "models/settings/encoding_entry.h"

namespace che {

at::Tensor TableCache::get(Key key, const std::function<at::Tensor()>& build) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;
  if (const auto found = tables_.find(key); found != tables_.end()) return found->second;
  const at::Tensor table = build();
  if (bytes_ + table.nbytes() > kMaxBytes) {
    tables_.clear();
    bytes_ = 0;
  }
  bytes_ += table.nbytes();
  return tables_.emplace(std::move(key), table).first->second;
}

EncodingTable make_table(std::vector<std::string> columns, std::vector<std::vector<double>> keys,
                         const at::Tensor& values) {
  for (std::size_t axis = 0; axis < keys.size(); ++axis) {
    if (!keys[axis].empty()) continue;
    keys[axis].resize(static_cast<std::size_t>(values.size(static_cast<std::int64_t>(axis))));
    std::iota(keys[axis].begin(), keys[axis].end(), 0);
  }
  const at::Tensor copy = values.detach().to(at::kCPU, at::kDouble).contiguous();
  return {
      std::move(columns), std::move(keys), {copy.data_ptr<double>(), copy.data_ptr<double>() + copy.numel()}};
}

std::string EncodingTable::csv() const {
  const std::size_t value_columns = columns.size() - keys.size();
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "{}\n", fmt::join(columns, ","));
  std::vector<std::size_t> index(keys.size(), 0);
  for (std::size_t first = 0; first < values.size(); first += value_columns) {
    for (std::size_t axis = 0; axis < keys.size(); ++axis) {
      fmt::format_to(std::back_inserter(text), "{:.9g},", keys[axis][index[axis]] + 0.0);
    }
    for (std::size_t i = 0; i < value_columns; ++i) {
      fmt::format_to(std::back_inserter(text), "{:.9g}{}",
                     values[first + i] + 0.0,  // Without the sign of zeros.
                     i + 1 == value_columns ? '\n' : ',');
    }
    for (std::size_t axis = keys.size(); axis-- > 0 && ++index[axis] == keys[axis].size();) index[axis] = 0;
  }
  return fmt::to_string(text);
}

EncodingContext EncodingContext::of_queries(std::int64_t part, std::int64_t count) const {
  EncodingContext context = *this;
  context.tokens = part;
  context.first_query = part - count;
  // One factor may serve all queries.
  if (logit_scale.defined() && logit_scale.size(2) > 1 && logit_scale.size(2) != count) {
    context.logit_scale = logit_scale.narrow(2, context.first_query - first_query, count);
  }
  return context;
}

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

at::Tensor EncodingContext::computed_table(std::string_view name,
                                           const std::function<at::Tensor()>& compute) const {
  if (backend.device().is_cpu() || !positions.contiguous()) return compute();
  return kept_for_steps(backend, [&] {
    return tables.get({std::string(name), tokens, first_query}, compute);
  });
}

at::Tensor EncodingContext::token_positions() const {
  return table("positions", [layer = layer, tokens = tokens](const Positions& from) {
    return at::tensor(from.of_tokens(layer, tokens), at::kDouble);
  });
}

at::Tensor sinusoid(const Positions::List& positions, std::int64_t width, double max_time) {
  const at::Tensor exponents = at::arange(0, width, 2, at::kDouble) / -static_cast<double>(width);
  const at::Tensor angles = at::tensor(positions, at::kDouble).unsqueeze(1) * at::pow(max_time, exponents);
  return at::cat({angles.sin(), angles.cos()}, 1);
}

at::Tensor Encoding::embedding(const EncodingContext&) const { return {}; }

at::Tensor Encoding::rotate(const at::Tensor& heads, Operand, const EncodingContext&) const { return heads; }

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
                                          const std::optional<DapeOptions>& dape, TrainedTokens trained,
                                          AttentionScale scale, AttentionWindow window) {
  const EncodingEntry& entry = Registry<EncodingEntry>::instance().get(name);
  std::unique_ptr<Encoding> encoding =
      Registry<EncodingMaker>::instance().get(name).make(options.or_defaults(entry.options), dape, trained);
  if (dape && !entry.takes_dape()) {
    throw Error("encoding.dape: '" + entry.name + "' gives no additive bias that DAPE could adapt");
  }
  if (!dape && scale == AttentionScale::kSqrtD && !window.is_cut()) return encoding;
  return std::make_unique<AttentionSettings>(std::move(encoding), dape, scale, window, trained);
}

}  // namespace che
