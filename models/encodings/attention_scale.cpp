#include "models/encodings/attention_scale.h"

#include <ATen/ATen.h>
#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "core/error.h"

namespace che {

ScaledAttention::ScaledAttention(std::unique_ptr<Encoding> base, AttentionScale scale, TrainedTokens trained)
    : base_(std::move(base)), scale_(scale), trained_(static_cast<double>(trained.count)) {
  if (trained.count < 2) {
    throw Error("attention_scale needs a longest training sequence of two tokens or more",
                ErrorKind::kRuntime);
  }
}

std::vector<ParameterSpec> ScaledAttention::embedding_parameters(const ModelShape& shape) const {
  return base_->embedding_parameters(shape);
}

std::vector<ParameterSpec> ScaledAttention::layer_parameters(const ModelShape& shape) const {
  std::vector<ParameterSpec> specs = base_->layer_parameters(shape);
  if (scale_ != AttentionScale::kSsmax) return specs;
  const double sum_of_logs = std::lgamma(trained_ + 1);
  specs.push_back({"scale", {shape.heads}, Init::constant(trained_ / sum_of_logs)});
  return specs;
}

void ScaledAttention::project(const ParameterView& parameters) const { base_->project(parameters); }

at::Tensor ScaledAttention::embedding(const EncodingContext& context) const {
  return base_->embedding(context);
}

at::Tensor ScaledAttention::rotate(const at::Tensor& heads, Operand operand, const EncodingContext& context) const {
  return base_->rotate(heads, operand, context);
}

at::Tensor ScaledAttention::logit_scale(const EncodingContext& context) const {
  const double divisor = scale_ == AttentionScale::kLogN ? std::log(trained_) : 1;
  const at::Tensor logarithms = context.table(
      fmt::format("attention_scale {} {}", context.tokens, context.first_query), [&context, divisor] {
        const std::int64_t first = context.shape.causal ? context.first_query + 1 : context.tokens;
        return (at::arange(first, context.tokens + 1, at::kDouble).log() / divisor).view({1, 1, -1, 1, 1});
      });
  if (scale_ == AttentionScale::kLogN) return logarithms;
  return context.parameters["scale"].view({-1, 1, 1, context.shape.heads, 1}) * logarithms;
}

AttentionTerms ScaledAttention::attention_terms(const EncodingContext& context) const {
  return base_->attention_terms(context);
}

std::optional<EncodingTable> ScaledAttention::table(const EncodingContext& context) const {
  return base_->table(context);
}

}  // namespace che
