#include "models/encodings/dape.h"

#include <utility>

namespace che {
namespace {

bool concatenates(DapeVariant variant) {
  return variant == DapeVariant::kConcatResidual || variant == DapeVariant::kConcat;
}

}  // namespace

std::vector<ParameterSpec> dape_parameters(const DapeOptions& options, const ModelShape& shape) {
  const std::int64_t taps = options.taps();
  const std::int64_t hidden = options.hidden;
  const std::int64_t inputs = concatenates(options.variant) ? 2 * shape.heads : shape.heads;
  const auto weights = [&](std::int64_t in, std::int64_t out) -> std::vector<std::int64_t> {
    if (taps == 1) return {in, out};
    return {taps, in, out};
  };
  return {{"dape.w1", weights(inputs, hidden), Init::linear(inputs * taps)},
          {"dape.b1", {hidden}, Init::linear(inputs * taps)},
          {"dape.w2", weights(hidden, shape.heads), Init::linear(hidden * taps)},
          {"dape.b2", {shape.heads}, Init::linear(hidden * taps)}};
}

AdaptedBias dape_terms(const DapeOptions& options, const AttentionTerms& base, const ParameterView& own) {
  return dape_terms(additive_bias(base),
                    {.w1 = own["dape.w1"], .b1 = own["dape.b1"], .w2 = own["dape.w2"], .b2 = own["dape.b2"]},
                    options.variant);
}

AdaptedBias dape_terms(const PairValues& bias, PairMlp mlp, DapeVariant variant) {
  mlp.reads = concatenates(variant) ? PairMlp::Reads::kLogitsAndBias
              : variant == DapeVariant::kBiasOnly || variant == DapeVariant::kBiasOnlyResidual
                  ? PairMlp::Reads::kBias
              : variant == DapeVariant::kAttentionOnly ? PairMlp::Reads::kLogits
                                                       : PairMlp::Reads::kSum;
  return {bias, DapeOptions{.variant = variant}.adds_bias(), std::move(mlp)};
}

}  // namespace che
