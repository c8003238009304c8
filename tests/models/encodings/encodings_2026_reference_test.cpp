// Encodings after the paper against numbers made with the programs that released them
// (tests/reference/encodings_2026.json).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

using nlohmann::json;

constexpr double kReleasedTolerance = 1e-5;

json cases_of(const char* section) {
  return read_reference(reference_dir() / "encodings_2026.json").at(section);
}

// One layer of an encoding with the parameters `names` of a case, which the encoding has behind `prefix`.
class ReferenceRig : public EncodingRig {
 public:
  ReferenceRig(const std::string& encoding, const OptionValues& options, const ModelShape& shape,
               const json& one, const std::string& prefix, std::initializer_list<const char*> names)
      : EncodingRig(config_of(encoding, options), shape, 1) {
    for (const char* name : names) {
      parameter(0, prefix + name).data().copy_(reference_input(one.at(name)).unsqueeze(0));
    }
  }

 private:
  static EncodingConfig config_of(const std::string& encoding, const OptionValues& options) {
    EncodingConfig config;
    config.reset(encoding);
    config.set_options(options);
    return config;
  }
};

// A tensor of a case as a leaf, with an axis of replicas.
at::Tensor leaf(const json& value) {
  return reference_input(value).to(at::kDouble).unsqueeze(0).requires_grad_(true);
}

void expect_equal(const at::Tensor& actual, const json& expected) {
  EXPECT_EQ("", difference(actual.squeeze(0), reference_tensor(expected), kReleasedTolerance));
}

TEST(Encodings2026Reference, PositionMlp) {
  for (const json& one : cases_of("position_mlp")) {
    const std::int64_t heads = one.at("heads");
    const ReferenceRig rig("position_mlp", {{"hidden", one.at("hidden").dump()}},
                           {.width = heads, .layers = 1, .heads = heads}, one, "mlp.",
                           {"w1", "b1", "w2", "b2", "w3", "b3"});
    const at::Tensor zero = at::zeros({1, 1, one.at("tokens").get<std::int64_t>(), heads, 1}, at::kDouble);
    expect_equal(rig.logits(zero, zero, Positions())[0], one.at("bias"));
  }
}

TEST(Encodings2026Reference, Pope) {
  for (const json& one : cases_of("pope")) {
    const std::int64_t heads = one.at("heads");
    const ReferenceRig rig(
        "pope", {}, {.width = heads * one.at("head_width").get<std::int64_t>(), .layers = 1, .heads = heads},
        one, "", {"delta"});
    const at::Tensor q = leaf(one.at("q"));
    const at::Tensor k = leaf(one.at("k"));
    const Positions positions = Positions::given({one.at("positions").get<Positions::List>()}, {}, 1000);
    const at::Tensor logits = rig.logits(q, k, positions);
    expect_equal(logits, one.at("logits"));
    (logits * reference_tensor(one.at("weight"))).sum().backward();
    expect_equal(q.grad(), one.at("d_q"));
    expect_equal(k.grad(), one.at("d_k"));
    expect_equal(rig.parameter(0, "delta").grad(), one.at("d_delta"));
  }
}

TEST(Encodings2026Reference, SelectiveRope) {
  for (const json& one : cases_of("selective_rope")) {
    const std::int64_t heads = one.at("heads");
    const ReferenceRig rig("selective_rope", {{"rank", one.at("rank").dump()}},
                           {.width = heads * one.at("head_width").get<std::int64_t>(),
                            .layers = 1,
                            .heads = heads,
                            .causal = true},
                           one, "phi.", {"w1", "w2", "taps"});
    const at::Tensor q = leaf(one.at("q"));
    const at::Tensor k = leaf(one.at("k"));
    const at::Tensor x = leaf(one.at("x"));
    const at::Tensor logits = rig.logits(q, k, Positions(), 0, 0, x);
    expect_equal(logits, one.at("logits"));
    (logits * reference_tensor(one.at("weight"))).sum().backward();
    expect_equal(q.grad(), one.at("d_q"));
    expect_equal(k.grad(), one.at("d_k"));
    expect_equal(x.grad(), one.at("d_x"));
    for (const std::string name : {"w1", "w2", "taps"}) {
      SCOPED_TRACE(name);
      expect_equal(rig.parameter(0, "phi." + name).grad(), one.at("d_" + name));
    }
  }
}

TEST(Encodings2026Reference, Fox) {
  for (const json& one : cases_of("fox")) {
    const std::int64_t heads = one.at("heads");
    const std::int64_t width = one.at("width");
    const bool is_causal = one.at("causal");
    const ReferenceRig rig("fox", {}, {.width = width, .layers = 1, .heads = heads, .causal = is_causal}, one,
                           "fox.", {"w", "b"});
    const at::Tensor x = leaf(one.at("x"));
    const at::Tensor zero = at::zeros({1, x.size(1), x.size(2), heads, width / heads}, at::kDouble);
    const at::Tensor bias = rig.logits(zero, zero, Positions(), 0, 0, x)[0];
    (bias * reference_tensor(one.at("weight"))).sum().backward();
    // Keys after the query of a decoder are the mask's.
    const auto seen = [&](const at::Tensor& pairs) { return is_causal ? pairs.tril() : pairs; };
    EXPECT_EQ("", difference(seen(bias), seen(reference_tensor(one.at("bias"))), kReleasedTolerance));
    expect_equal(x.grad(), one.at("d_x"));
    expect_equal(rig.parameter(0, "fox.w").grad(), one.at("d_w"));
    expect_equal(rig.parameter(0, "fox.b").grad(), one.at("d_b"));
  }
}

}  // namespace
}  // namespace che
