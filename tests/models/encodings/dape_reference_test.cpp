// DAPE and its base biases against numbers made with the published module (tests/reference/dape.json).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/number_text.h"
#include "models/encodings/dape.h"
#include "models/encodings/encoding.h"
#include "models/encodings/fire.h"
#include "models/ops/attention/attention.h"
#include "models/settings/encoding_entry.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

using nlohmann::json;

constexpr double kDapeTolerance = 1e-5;

// The released biases are those of a decoder: distance 0 to the right.
ModelShape decoder_shape(std::int64_t heads) {
  return {.width = heads, .layers = 1, .heads = heads, .causal = true};
}

class DapeReference : public testing::TestWithParam<at::ScalarType> {
 protected:
  const json& file() const { return file_; }
  const json& cases(const char* section) const { return file_.at(section); }
  at::TensorOptions options() const { return at::TensorOptions().dtype(GetParam()); }
  at::Tensor tensor(const json& object) const { return reference_tensor(object).to(GetParam()); }

 private:
  json file_ = read_reference(reference_dir() / "dape.json");
};

// The parameters of a base encoding for `heads` heads, one replica.
ParameterSet base_parameters(const Encoding& base, std::int64_t heads, const at::TensorOptions& options) {
  return ParameterSet(base.layer_parameters(decoder_shape(heads)), 1, options);
}

void set_parameter(const ParameterSet& parameters, const std::string& name, const at::Tensor& value) {
  parameters[name].data().copy_(value.reshape(parameters[name].sizes()));
}

at::Tensor bias_of(const Encoding& base, const ParameterSet& parameters, std::int64_t heads,
                   std::int64_t length, const at::TensorOptions& options) {
  const Positions contiguous;
  const ModelShape shape = decoder_shape(heads);
  const Backend backend{Kernels::kReference, options};
  TableCache tables;
  const EncodingContext context{shape,   0,     length, 0, contiguous, {parameters, ""}, {parameters, ""},
                                backend, tables};
  return additive_bias(base.attention_terms(context)).dense(length, length);
}

// The file stores linear weights as (out, in), this project as (in, out).
struct LeafMlp {
  PairMlp mlp;

  LeafMlp(const json& stored, at::ScalarType type) {
    const auto leaf = [&](const char* name, bool transposed) {
      const at::Tensor value = reference_tensor(stored.at(name)).to(type);
      return (transposed ? value.t().contiguous() : value).unsqueeze(0).requires_grad_(true);
    };
    mlp = {leaf("w1", true), leaf("b1", false), leaf("w2", true), leaf("b2", false)};
  }

  void expect_gradients(const json& expected) const {
    const auto check = [&](const char* name, const at::Tensor& leaf, bool transposed) {
      if (!expected.contains(name)) return;
      const at::Tensor gradient = leaf.grad().squeeze(0);
      EXPECT_EQ("", difference(transposed ? gradient.t() : gradient, reference_tensor(expected.at(name)),
                               kDapeTolerance))
          << name;
    };
    check("w1", mlp.w1, true);
    check("b1", mlp.b1, false);
    check("w2", mlp.w2, true);
    check("b2", mlp.b2, false);
  }
};

// bias (replicas or 1, heads, queries, keys).
at::Tensor dape_logits(const at::Tensor& logits, const at::Tensor& bias, const PairMlp& mlp,
                       DapeVariant variant) {
  return reference::logits(logits, {}, {}, dape_terms({bias.flatten(2), false}, mlp, variant), false);
}

TEST_P(DapeReference, AlibiCausal) {
  for (const json& one : cases("alibi_causal")) {
    const std::int64_t heads = one.at("heads");
    const auto alibi = create_encoding("alibi");
    const ParameterSet parameters = base_parameters(*alibi, heads, options());
    const at::Tensor bias = bias_of(*alibi, parameters, heads, one.at("length"), options());
    EXPECT_EQ("", difference(bias.squeeze(0), reference_tensor(one.at("bias")), kDapeTolerance));
  }
}

TEST_P(DapeReference, Kerple) {
  for (const json& one : cases("kerple")) {
    const std::int64_t heads = one.at("heads");
    const auto kerple = create_encoding("kerple");
    const ParameterSet parameters = base_parameters(*kerple, heads, options());
    set_parameter(parameters, "p", tensor(one.at("p")));
    set_parameter(parameters, "a", tensor(one.at("a")));
    kerple->project({parameters, ""});
    EXPECT_EQ("", difference(parameters["p"].squeeze(0), reference_tensor(one.at("p_after_clamp")), 1e-7));
    EXPECT_EQ("", difference(parameters["a"].squeeze(0), reference_tensor(one.at("a_after_clamp")), 1e-7));
    const at::Tensor bias = bias_of(*kerple, parameters, heads, one.at("length"), options());
    EXPECT_EQ("", difference(bias.squeeze(0), reference_tensor(one.at("bias")), kDapeTolerance));
  }
}

// FIRE with the sizes and settings of a case; `mlp` is FIRE's own.
std::unique_ptr<Encoding> fire_of(const json& one, const json& mlp) {
  EXPECT_EQ(1e-6, one.at("eps").get<double>());
  OptionValues options;
  options["length"] = real_text(one.at("L"));
  const bool adaptive = one.at("activation") == "leaky_relu";
  std::optional<DapeOptions> dape;
  const std::int64_t hidden = mlp.at("b1").at("shape").at(0);
  if (adaptive) {
    dape = DapeOptions{.hidden = hidden};
  } else {
    options["hidden"] = std::to_string(hidden);
  }
  return Registry<EncodingMaker>::instance().get("fire").make(AnyOptions(FireOptions()).with(options), dape,
                                                              {});
}

// The file's names of the parameters of FIRE that are not its MLP's.
void set_fire(const ParameterSet& parameters, const json& one, const json& mlp) {
  for (const char* name : {"c", "L_multiplier"}) {
    set_parameter(parameters, name, reference_list(one.at(name)).to(at::kFloat));
  }
  for (const char* name : {"w1", "b1", "w2", "b2"}) {
    const at::Tensor value = reference_input(mlp.at(name));
    set_parameter(parameters, std::string("fire.") + name, value.dim() == 2 ? value.t() : value);
  }
}

TEST_P(DapeReference, Fire) {
  for (const json& one : cases("fire")) {
    const std::int64_t heads = one.at("heads");
    const auto fire = fire_of(one, one);
    const ParameterSet parameters = base_parameters(*fire, heads, options());
    set_fire(parameters, one, one);
    const at::Tensor bias = bias_of(*fire, parameters, heads, one.at("length"), options());
    EXPECT_EQ("", difference(bias.squeeze(0), reference_tensor(one.at("bias")), kDapeTolerance));
  }
}

// A + B + f([A; B]) of the released module: values and the gradients of everything.
TEST_P(DapeReference, Released) {
  for (const json& one : cases("dape_released")) {
    const std::string base_name = one.at("base");
    SCOPED_TRACE(base_name);
    ASSERT_TRUE(encoding_exists(base_name)) << "not registered";
    const std::int64_t heads = one.at("heads");
    const json& given = one.at("base_params");
    const bool is_fire = base_name == "fire";
    const auto base = is_fire ? fire_of(given, given.at("fire_mlp")) : create_encoding(base_name);
    const ParameterSet parameters = base_parameters(*base, heads, options());
    if (is_fire) {
      set_fire(parameters, given, given.at("fire_mlp"));
    } else {
      for (const auto& [name, value] : given.items()) {
        if (name != "slopes") set_parameter(parameters, name, tensor(value));
      }
    }
    base->project({parameters, ""});
    const at::Tensor a = tensor(one.at("A")).unsqueeze(0).requires_grad_(true);
    const at::Tensor bias = bias_of(*base, parameters, heads, one.at("length"), options());
    EXPECT_EQ("", difference(bias.squeeze(0), reference_tensor(one.at("bias")), kDapeTolerance));
    // A leaf of its own, whose gradient then goes on into the base's parameters.
    const at::Tensor free_bias = bias.detach().requires_grad_(true);
    const LeafMlp leaves(one.at("mlp"), GetParam());
    const at::Tensor out = dape_logits(a, free_bias, leaves.mlp, DapeVariant::kConcatResidual);
    EXPECT_EQ("", difference(out.squeeze(0), reference_tensor(one.at("out")), kDapeTolerance));

    (out * tensor(one.at("G"))).sum().backward();
    const json& gradients = one.at("grads");
    EXPECT_EQ("", difference(a.grad().squeeze(0), reference_tensor(gradients.at("A")), kDapeTolerance));
    EXPECT_EQ(
        "", difference(free_bias.grad().squeeze(0), reference_tensor(gradients.at("bias")), kDapeTolerance));
    leaves.expect_gradients(gradients);
    if (bias.requires_grad()) bias.backward(free_bias.grad());
    for (const ParameterSpec& spec : parameters.specs()) {
      const at::Tensor gradient = parameters[spec.name].grad().squeeze(0);
      std::string stored = spec.name;  // "fire.w1" is "fire_w1".
      std::replace(stored.begin(), stored.end(), '.', '_');
      const bool transposed = gradient.dim() == 2;
      EXPECT_EQ("", difference(transposed ? gradient.t() : gradient, reference_tensor(gradients.at(stored)),
                               kDapeTolerance))
          << spec.name;
    }
    // Every gradient of the file was compared.
    EXPECT_EQ(gradients.size(), 6 + parameters.specs().size());
  }
}

TEST_P(DapeReference, Variants) {
  const json& section = cases("dape_variants");
  for (const json& one : section.at("cases")) {
    const std::string word = one.at("variant");
    SCOPED_TRACE(word);
    const DapeVariant variant = AnyOptions(DapeOptions()).with({{"variant", word}}).as<DapeOptions>().variant;
    const at::Tensor a = tensor(section.at("A")).unsqueeze(0).requires_grad_(true);
    const at::Tensor bias = tensor(section.at("bias")).unsqueeze(0).requires_grad_(true);
    const LeafMlp leaves(section.at(one.at("mlp").get<std::string>()), GetParam());
    const at::Tensor out = dape_logits(a, bias, leaves.mlp, variant);
    EXPECT_EQ("", difference(out.squeeze(0), reference_tensor(one.at("out")), kDapeTolerance));
    (out * tensor(section.at("G"))).sum().backward();
    const json& gradients = one.at("grads");
    EXPECT_EQ("", difference(a.grad().squeeze(0), reference_tensor(gradients.at("A")), kDapeTolerance));
    EXPECT_EQ("", difference(bias.grad().squeeze(0), reference_tensor(gradients.at("bias")), kDapeTolerance));
    leaves.expect_gradients(gradients);
  }
}

// A section that no test reads would pass unseen.
TEST_P(DapeReference, HasNoOtherSection) {
  const std::set<std::string> known{"alibi_causal", "kerple", "fire", "dape_released", "dape_variants"};
  for (const auto& [section, value] : file().items()) EXPECT_TRUE(known.contains(section)) << section;
}

INSTANTIATE_TEST_SUITE_P(Types, DapeReference, testing::Values(at::kFloat, at::kDouble),
                         [](const auto& type) { return std::string(c10::toString(type.param)); });

}  // namespace
}  // namespace che
