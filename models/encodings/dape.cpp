#include "models/encodings/dape.h"

#include <cmath>
#include <utility>

namespace che {
namespace {

bool concatenates(DapeVariant variant) {
  return variant == DapeVariant::kConcatResidual || variant == DapeVariant::kConcat;
}

}  // namespace

Dape::Dape(std::unique_ptr<Encoding> base, DapeOptions options) : base_(std::move(base)), options_(options) {}

std::vector<ParameterSpec> Dape::embedding_parameters(const ModelShape& shape) const {
  return base_->embedding_parameters(shape);
}

std::vector<ParameterSpec> Dape::layer_parameters(const ModelShape& shape) const {
  const std::int64_t inputs = concatenates(options_.variant) ? 2 * shape.heads : shape.heads;
  const double first = 1 / std::sqrt(static_cast<double>(inputs * options_.taps()));
  const double second = 1 / std::sqrt(static_cast<double>(options_.hidden * options_.taps()));
  const auto weights = [&](std::int64_t in, std::int64_t out) -> std::vector<std::int64_t> {
    if (options_.taps() == 1) return {in, out};
    return {options_.taps(), in, out};
  };
  std::vector<ParameterSpec> specs = base_->layer_parameters(shape);
  specs.push_back({"dape.w1", weights(inputs, options_.hidden), Init::uniform(-first, first)});
  specs.push_back({"dape.b1", {options_.hidden}, Init::uniform(-first, first)});
  specs.push_back({"dape.w2", weights(options_.hidden, shape.heads), Init::uniform(-second, second)});
  specs.push_back({"dape.b2", {shape.heads}, Init::uniform(-second, second)});
  return specs;
}

void Dape::project(const ParameterView& parameters) const { base_->project(parameters); }

AttentionTerms Dape::attention_terms(const EncodingContext& context) const {
  const ParameterView& own = context.parameters;
  return dape_terms(additive_bias(base_->attention_terms(context)),
                    {.w1 = own["dape.w1"], .b1 = own["dape.b1"], .w2 = own["dape.w2"], .b2 = own["dape.b2"]},
                    options_.variant);
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
