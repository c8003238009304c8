// Causal encodings against the released modules, and pre-norm decoders against a plain one in double
// precision and against GPT-NeoX (tests/reference/decoder).
#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "experiments/learn/model_factory.h"
#include "experiments/learn/training.h"
#include "models/architectures/encoder_model.h"
#include "models/ops/attention/attention.h"
#include "models/settings/encoding_entry.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

using nlohmann::json;
using Shape = std::vector<std::int64_t>;

// numbers() of reference.py: uniform over [-1, 1), SplitMix64 from the FNV-1a hash of `name`.
at::Tensor numbers(const std::string& name, at::IntArrayRef shape) {
  std::uint64_t seed = 0xCBF29CE484222325U;
  for (const char c : name) seed = (seed ^ static_cast<std::uint8_t>(c)) * 0x100000001B3U;
  const at::Tensor all = at::empty(shape, at::kDouble);
  auto* const values = all.data_ptr<double>();
  for (std::int64_t i = 0; i < all.numel(); ++i) {
    std::uint64_t z = seed += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    z ^= z >> 31U;
    values[i] = static_cast<double>(z >> 11U) * 0x1p-52 - 1;
  }
  return all;
}

// parameter() of reference.py.
at::Tensor parameter(const std::string& name, at::IntArrayRef shape) {
  static const std::map<std::string, std::pair<double, double>> ranges{{"p", {1.1, 0.9}},
                                                                       {"a", {0.55, 0.45}},
                                                                       {"c", {0.2, 0.1}},
                                                                       {"L_multiplier", {1, 0.2}},
                                                                       {"scale", {1, 0.2}}};
  const auto found = ranges.find(name.substr(name.find_last_of(". ") + 1));
  const auto [centre, half] = found == ranges.end() ? std::pair(0.0, 0.3) : found->second;
  return centre + half * numbers(name, shape);
}

// Whether `value` has the three projections that reference.py stored.
void expect_projections(const json& stored, const std::string& name, const at::Tensor& value,
                        double tolerance) {
  ASSERT_TRUE(value.defined()) << name;
  for (std::size_t k = 0; k < 3; ++k) {
    const at::Tensor direction = numbers(fmt::format("direction {} of {}", k, name), value.sizes());
    const double expected = stored.at(k);
    const double size =
        std::max(1.0, value.abs().max().item<double>() * std::sqrt(static_cast<double>(value.numel())));
    EXPECT_NEAR(expected, (value * direction).sum().item<double>(), tolerance * size) << name;
  }
}

// A name of reference.py with the sizes that it has there.
EncodingConfig config_of(std::string name) {
  OptionValues options;
  const auto cut = [&](const std::string& part) {
    const std::size_t at = name.find(part);
    if (at == std::string::npos) return false;
    name.erase(at, part.size());
    return true;
  };
  const bool has_three_taps = cut("v2_");
  if (cut("_sqrt_head")) options["scale"] = "sqrt_head";
  EncodingConfig config;
  config.reset(name);
  if (config.name == "fire") options["length"] = "12";
  if (config.name == "learned") options["rows"] = "64";
  config.set_options(options);
  if (config.dape) config.dape->hidden = 32;
  if (has_three_taps) config.dape->kernel = DapeKernel::kThreeKeys;
  return config;
}

json reference() { return read_reference(reference_dir() / "decoder" / "decoder.json"); }

// Lower triangles of the logits, and the gradients of the logits before, of queries, keys and parameters.
TEST(ReleasedModules, AreTheEncodingsOfADecoder) {
  const json file = reference();
  ASSERT_EQ(72U, file.at("modules").size());
  for (const json& one : file.at("modules")) {
    const std::string name = one.at("encoding");
    const std::int64_t heads = one.at("heads"), tokens = one.at("tokens");
    const std::string label = fmt::format("{} {} {}", name, heads, tokens);
    SCOPED_TRACE(label);
    constexpr std::int64_t kBatch = 2;
    const ModelShape shape{.width = 4 * heads, .layers = 1, .heads = heads, .causal = true};
    const auto encoding = create_encoding(config_of(name), {});
    std::vector<ParameterSpec> specs = encoding->layer_parameters(shape);
    for (ParameterSpec& spec : encoding->embedding_parameters(shape)) specs.push_back(std::move(spec));
    const Backend backend{Kernels::kReference, at::TensorOptions().dtype(at::kDouble)};
    ParameterSet parameters(specs, 1, backend.options);
    for (const ParameterSpec& spec : specs) {
      parameters[spec.name].data().copy_(parameter(label + " " + spec.name, spec.shape));
    }
    std::map<std::string, at::Tensor> inputs;
    const auto input = [&](const char* of, const Shape& sizes) {
      inputs[of] = (2 * numbers(label + " " + of, sizes)).requires_grad_();
      return inputs[of].unsqueeze(0);
    };
    const at::Tensor a = input("A", {kBatch, heads, tokens, tokens});
    const at::Tensor q = input("q", {kBatch, heads, tokens, 4});
    const at::Tensor k = input("k", {kBatch, heads, tokens, 4});
    const Positions positions;
    TableCache tables;
    const EncodingContext context{shape,   0,     tokens, 0, positions, {parameters, ""}, {parameters, ""},
                                  backend, tables};
    const at::Tensor scaled = name == "relative" ? at::matmul(q, k.transpose(3, 4)) / 2 : a;
    const at::Tensor out =
        reference::logits(scaled, q, k, encoding->attention_terms(context), true).squeeze(0).tril();
    const at::Tensor rows = (out * numbers("direction of " + label, out.sizes())).sum({0, 1, 3});
    EXPECT_EQ("", difference(rows, reference_list(one.at("rows")), 1e-6));
    rows.sum().backward();
    for (const auto& [key, stored] : one.at("gradients").items()) {
      const auto found = inputs.find(key);
      const at::Tensor gradient =
          found != inputs.end() ? found->second.grad() : parameters[key].grad().squeeze(0);
      expect_projections(stored, label + " " + key, gradient, 1e-6);
    }
    // Every parameter's gradient was compared.
    for (const ParameterSpec& spec : specs) EXPECT_TRUE(one.at("gradients").contains(spec.name)) << spec.name;
  }
}

class DecoderReference : public testing::TestWithParam<Kernels> {};

// Logits, loss and all gradients: in double precision, and what the fused operations make of it.
TEST_P(DecoderReference, IsTheDecoderWithItsEncoding) {
  constexpr std::int64_t kBatch = 2, kTokens = 24, kSymbols = 257;
  const bool is_fused = GetParam() == Kernels::kFused;
  const double tolerance = is_fused ? 3e-6 : 1e-9;
  const json file = reference();
  const auto ids = [](const char* name) {
    return ((numbers(name, {kBatch, kTokens}) + 1) / 2 * static_cast<double>(kSymbols)).to(at::kLong);
  };
  for (const char* section : {"decoders", "gpt_neox"}) {
    for (const json& one : file.at(section)) {
      const std::string name = one.at("encoding");
      SCOPED_TRACE(fmt::format("{} {}", section, name));
      const ModelShape shape{
          .width = 32, .layers = 2, .heads = 4, .block = BlockForm::kPreNorm, .causal = true};
      Encoder model({shape, {kSymbols, kSymbols}, create_encoding(config_of(name), {kTokens})}, 1,
                    {GetParam(), at::TensorOptions().dtype(is_fused ? at::kFloat : at::kDouble)});
      for (const ParameterSpec& spec : model.parameters().specs()) {
        model.parameters()[spec.name].data().copy_(parameter(spec.name, spec.shape).unsqueeze(0));
      }
      const at::Tensor logits = model.forward(ids("ids"), kTokens, {.positions = Positions()});
      const at::Tensor loss = at::cross_entropy_loss(logits[0].flatten(0, 1), ids("targets").flatten());
      loss.backward();
      // GPT-NeoX has its angles in single precision.
      const double allowed = std::string(section) == "gpt_neox" ? std::max(tolerance, 1e-5) : tolerance;
      const at::Tensor values = logits.detach()[0].to(at::kDouble);
      const at::Tensor rows = (values * numbers("direction of " + name, values.sizes())).sum(-1).flatten();
      EXPECT_EQ("", difference(rows, reference_list(one.at("logits")), 10 * allowed));
      EXPECT_NEAR(one.at("loss").get<double>(), loss.item<double>(), allowed);
      ASSERT_EQ(one.at("gradients").size(), model.parameters().specs().size());
      for (const auto& [key, stored] : one.at("gradients").items()) {
        expect_projections(stored, key, model.parameters()[key].grad().squeeze(0).to(at::kDouble), allowed);
      }
    }
  }
}

// Twenty steps equal torch.optim.AdamW's, whose two groups, clip and schedule adamw.py has.
class DecoderTraining : public testing::TestWithParam<const char*> {};

TEST_P(DecoderTraining, IsTheOneOfPyTorch) {
  constexpr std::int64_t kBatch = 3, kTokens = 24, kSymbols = 257;
  TrainingConfig training;
  training.steps = 20;
  training.warmup_steps = 4;
  training.schedule = RateSchedule::kCosine;
  const json file = read_reference(reference_dir() / "decoder" / "training.json");
  for (const json& one : file.at(GetParam())) {
    const std::string name = one.at("encoding");
    SCOPED_TRACE(name);
    const ModelShape shape{
        .width = 32, .layers = 2, .heads = 4, .block = BlockForm::kPreNorm, .causal = true};
    Encoder model({shape, {kSymbols, kSymbols}, create_encoding(config_of(name), {kTokens})}, 1,
                  {Kernels::kFused, at::TensorOptions().dtype(at::kFloat)});
    for (const ParameterSpec& spec : model.parameters().specs()) {
      model.parameters()[spec.name].data().copy_(parameter(spec.name, spec.shape).unsqueeze(0));
    }
    Adam adam(model.parameters(), {3e-3}, {.clip_norm = 1, .beta2 = 0.95, .weight_decay = 0.1},
              model.backend());
    const Positions positions;
    for (std::int64_t step = 0; step < training.steps; ++step) {
      const auto ids = [&](const char* what) {
        const at::Tensor drawn = numbers(fmt::format("{} {}", what, step + 1), {kBatch, kTokens});
        return ((drawn + 1) / 2 * static_cast<double>(kSymbols)).to(at::kLong);
      };
      const TensorBatch batch{ids("ids"), ids("targets"),
                              at::ones({kBatch, kTokens}, at::TensorOptions().dtype(at::kByte))};
      // In micro-batches of two and one: they are the batch.
      const StepResult made =
          read_result(training_step(model, adam, batch, {.positions = positions, .dropout = {.seeds = {0}}},
                                    step, rate_fraction(training, step), 2));
      EXPECT_NEAR(made.loss[0], one.at("losses").at(static_cast<std::size_t>(step)).get<double>(), 1e-5)
          << step;
    }
    ASSERT_EQ(one.at("values").size(), model.parameters().specs().size());
    for (const auto& [key, stored] : one.at("values").items()) {
      // The same summand for all keys, which no softmax sees, has a gradient of rounding alone, and Adam
      // gives it the length of any other. All pairs agree on the sign of many of FIRE's hidden units.
      const bool is_rounding = key.ends_with(".bk") || key.ends_with(".dape.b2") ||
                               key.ends_with(".fire.b1") || key.ends_with(".fire.b2");
      if (is_rounding) continue;
      expect_projections(stored, key, model.parameters()[key].detach().squeeze(0).to(at::kDouble), 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, DecoderTraining, testing::Values("decoders", "gpt_neox"),
                         [](const auto& program) { return std::string(program.param); });

INSTANTIATE_TEST_SUITE_P(Kernels, DecoderReference, testing::Values(Kernels::kReference, Kernels::kFused),
                         [](const auto& kernels) {
                           return kernels.param == Kernels::kFused ? "Fused" : "Reference";
                         });

}  // namespace
}  // namespace che
