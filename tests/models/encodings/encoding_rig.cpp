#include "tests/models/encodings/encoding_rig.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "experiments/learn/model_factory.h"
#include "models/ops/attention/attention.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

const Backend kDouble{Kernels::kReference, at::TensorOptions().dtype(at::kDouble)};
constexpr const char* kShared = "pos.";

std::string layer_prefix(std::int64_t layer) { return "layer" + std::to_string(layer) + ".attn."; }

std::vector<ParameterSpec> specs_of(const Encoding& encoding, const ModelShape& shape) {
  std::vector<ParameterSpec> specs;
  const auto add = [&](const std::string& prefix, std::vector<ParameterSpec> added) {
    for (ParameterSpec& spec : added) {
      spec.name = prefix + spec.name;
      specs.push_back(std::move(spec));
    }
  };
  add(kShared, encoding.embedding_parameters(shape));
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    add(layer_prefix(layer), encoding.layer_parameters(shape));
  }
  return specs;
}

// Collects the values of every choice.
class ChoiceCollector : public FieldVisitor {
 public:
  std::vector<std::pair<std::string, std::vector<std::string>>> choices;

  void integer(const Field&, std::int64_t&, std::int64_t, std::int64_t) override {}
  void real(const Field&, double&, double, double) override {}
  void choice(const Field& field, std::string&, const std::vector<std::string>& allowed) override {
    choices.emplace_back(std::string(field.name), allowed);
  }
  void boolean(const Field&, bool&) override {}
  void text(const Field&, std::string&, const Accept&) override {}
  void integer_list(const Field&, std::vector<std::int64_t>&, std::int64_t, std::int64_t) override {}
  void group(const Field&, const Members& members) override { members(*this); }
  void optional_group(const Field&, bool&, const Members&) override {}
  void component(const Field&, const std::function<void(std::string_view)>&,
                 const Members& members) override {
    members(*this);
  }
  void role(Role) override {}
};

}  // namespace

EncodingRig::EncodingRig(const EncodingConfig& config, const ModelShape& shape, std::int64_t replicas)
    : shape_(shape),
      encoding_(create_encoding(config, {.count = kTrainedTokens})),
      parameters_(specs_of(*encoding_, shape), replicas, kDouble.options) {}

void EncodingRig::randomise(std::int64_t seed) {
  std::vector<std::int64_t> seeds;
  for (std::int64_t r = 0; r < parameters_.replicas(); ++r) seeds.push_back(seed + r);
  parameters_.initialise(seeds);
  for (const ParameterSpec& spec : parameters_.specs()) {
    if (spec.init.kind != Init::Kind::kConstant) continue;
    at::Tensor values = parameters_[spec.name].data();
    values.add_(some_numbers(values.sizes().vec(), keyed_seed(static_cast<std::uint64_t>(seed), spec.name)),
                0.2);
  }
  for (std::int64_t layer = 0; layer < shape_.layers; ++layer)
    encoding_->project({parameters_, layer_prefix(layer)});
}

const at::Tensor& EncodingRig::parameter(std::int64_t layer, const std::string& name) const {
  const auto& specs = parameters_.specs();
  const bool own = std::any_of(specs.begin(), specs.end(), [&](const ParameterSpec& spec) {
    return spec.name == layer_prefix(layer) + name;
  });
  return parameters_[(own ? layer_prefix(layer) : kShared) + name];
}

at::Tensor EncodingRig::logits(const at::Tensor& q, const at::Tensor& k, const Positions& positions,
                               std::int64_t layer, std::int64_t first_query, const at::Tensor& input) const {
  EncodingContext context{shape_,
                          layer,
                          k.size(2),
                          first_query,
                          positions,
                          {parameters_, layer_prefix(layer)},
                          {parameters_, kShared},
                          kDouble,
                          tables_};
  context.input = input.defined() ? input : q.flatten(3);  // An oracle finds the queries there.
  const at::Tensor queries =
      encoding_->rotate(q.slice(2, first_query), Operand::kQueries, context).transpose(2, 3);
  const at::Tensor keys = encoding_->rotate(k, Operand::kKeys, context).transpose(2, 3);
  context.logit_scale = encoding_->logit_scale(context);
  at::Tensor scaled = at::matmul(queries, keys.transpose(3, 4)) / std::sqrt(static_cast<double>(q.size(4)));
  if (context.logit_scale.defined()) scaled = scaled * context.logit_scale.transpose(2, 3);
  const at::Tensor logits =
      reference::logits(scaled, queries, keys, encoding_->attention_terms(context), shape_.causal);
  const PairValues mask = encoding_->mask(context);
  return mask.defined() ? logits + mask.dense(queries.size(3), keys.size(3)).unsqueeze(1) : logits;
}

at::Tensor EncodingRig::embedding(std::int64_t tokens, const Positions& positions) const {
  const ParameterView shared(parameters_, kShared);
  return encoding_->embedding(
      {shape_, Positions::kEmbeddingLayer, tokens, 0, positions, shared, shared, kDouble, tables_});
}

std::vector<OptionValues> option_combinations(const std::string& name) {
  ChoiceCollector collector;
  AnyOptions defaults = Registry<EncodingEntry>::instance().get(name).options;
  defaults.visit_fields(collector);
  std::vector<OptionValues> combinations{defaults.values()};
  for (const auto& [option, allowed] : collector.choices) {
    std::vector<OptionValues> extended;
    for (const OptionValues& values : combinations) {
      for (const std::string& value : allowed) {
        extended.push_back(values);
        extended.back()[option] = value;
      }
    }
    combinations = std::move(extended);
  }
  return combinations;
}

at::Tensor some_numbers(const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  const at::Tensor numbers = at::empty(shape, kDouble.options);
  RandomStream random(seed, Purpose::kInit);
  double* const values = numbers.data_ptr<double>();
  for (std::int64_t i = 0; i < numbers.numel(); ++i) values[i] = 4 * random.uniform() - 2;
  return numbers;
}

}  // namespace che
