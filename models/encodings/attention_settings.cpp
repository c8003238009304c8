#include "models/encodings/attention_settings.h"

#include <ATen/ATen.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "models/encodings/dape.h"

namespace che {

AttentionSettings::AttentionSettings(std::unique_ptr<Encoding> base, const std::optional<DapeOptions>& dape,
                                     AttentionScale scale, AttentionWindow window, TrainedTokens trained)
    : base_(std::move(base)),
      dape_(dape),
      scale_(scale),
      window_(window),
      trained_(static_cast<double>(trained.count)) {
  if (scale != AttentionScale::kSqrtD && trained.count < 2) {
    throw Error("attention_scale needs a longest training sequence of two tokens or more",
                ErrorKind::kRuntime);
  }
}

std::vector<ParameterSpec> AttentionSettings::embedding_parameters(const ModelShape& shape) const {
  return base_->embedding_parameters(shape);
}

std::vector<ParameterSpec> AttentionSettings::layer_parameters(const ModelShape& shape) const {
  std::vector<ParameterSpec> specs = base_->layer_parameters(shape);
  if (dape_) std::ranges::move(dape_parameters(*dape_, shape), std::back_inserter(specs));
  if (scale_ != AttentionScale::kSsmax) return specs;
  const double sum_of_logs = std::lgamma(trained_ + 1);
  specs.push_back({"scale", {shape.heads}, Init::constant(trained_ / sum_of_logs)});
  return specs;
}

void AttentionSettings::project(const ParameterView& parameters) const { base_->project(parameters); }

at::Tensor AttentionSettings::embedding(const EncodingContext& context) const {
  return base_->embedding(context);
}

at::Tensor AttentionSettings::rotate(const at::Tensor& heads, Operand operand,
                                     const EncodingContext& context) const {
  return base_->rotate(heads, operand, context);
}

at::Tensor AttentionSettings::logit_scale(const EncodingContext& context) const {
  if (scale_ == AttentionScale::kSqrtD) return {};
  const double divisor = scale_ == AttentionScale::kLogN ? std::log(trained_) : 1;
  const at::Tensor logarithms = context.table(
      fmt::format("attention_scale {} {}", context.tokens, context.first_query), [&context, divisor] {
        const std::int64_t first = context.shape.causal ? context.first_query + 1 : context.tokens;
        return (at::arange(first, context.tokens + 1, at::kDouble).log() / divisor).view({1, 1, -1, 1, 1});
      });
  if (scale_ == AttentionScale::kLogN) return logarithms;
  return context.parameters["scale"].view({-1, 1, 1, context.shape.heads, 1}) * logarithms;
}

AttentionTerms AttentionSettings::attention_terms(const EncodingContext& context) const {
  AttentionTerms terms = base_->attention_terms(context);
  if (dape_) return dape_terms(*dape_, terms, context.parameters);
  return terms;
}

PairValues AttentionSettings::mask(const EncodingContext& context) const {
  if (!window_.is_cut()) return {};
  const std::int64_t tokens = context.tokens;
  const auto build = [window = window_, tokens, heads = context.shape.heads] {
    const at::Tensor is_far = at::arange(1 - tokens, tokens).abs().gt(window.reach);
    const at::Tensor is_cut = at::arange(heads).lt(window.heads).unsqueeze(1);
    return at::zeros({1, heads, 2 * tokens - 1}, at::kDouble)
        .masked_fill(is_cut.logical_and(is_far), kOutOfSight);
  };
  return {context.table(fmt::format("window {}", tokens), build), true};
}

std::optional<EncodingTable> AttentionSettings::table(const EncodingContext& context) const {
  return dape_ ? std::nullopt : base_->table(context);
}

}  // namespace che
