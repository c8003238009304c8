// Encodings after the paper against numbers made with the programs that released them
// (tests/reference/encodings_2026.json).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "models/encodings/encoding.h"
#include "models/parameters/parameter_set.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

using nlohmann::json;

constexpr double kReleasedTolerance = 1e-5;
const at::TensorOptions kReleasedType = at::TensorOptions().dtype(at::kDouble);
const Backend kReleasedBackend{Kernels::kReference, kReleasedType};

json cases_of(const char* section) {
  return read_reference(reference_dir() / "encodings_2026.json").at(section);
}

// An encoding with its parameters set to the numbers of a case, by the case's names.
class ReferenceEncoding {
 public:
  ReferenceEncoding(const std::string& name, const OptionValues& options, const ModelShape& shape)
      : shape_(shape),
        encoding_(create_encoding(name, Registry<EncodingEntry>::instance().get(name).options.with(options))),
        parameters_(encoding_->layer_parameters(shape), 1, kReleasedType) {}

  void set(const std::string& name, const json& value) {
    parameters_[name].data().copy_(reference_input(value).unsqueeze(0));
  }
  const at::Tensor& parameter(const std::string& name) { return parameters_[name]; }
  const Encoding& operator*() const { return *encoding_; }

  EncodingContext context(const Positions& positions, std::int64_t tokens) const {
    return {shape_, 0, tokens, 0, positions, {parameters_, ""}, {parameters_, ""}, kReleasedBackend, tables_};
  }

 private:
  ModelShape shape_;
  std::unique_ptr<Encoding> encoding_;
  ParameterSet parameters_;
  mutable TableCache tables_;
};

TEST(Encodings2026Reference, PositionMlp) {
  for (const json& one : cases_of("position_mlp")) {
    const std::int64_t heads = one.at("heads");
    const std::int64_t tokens = one.at("tokens");
    ReferenceEncoding encoding("position_mlp", {{"hidden", one.at("hidden").dump()}},
                               {.width = heads, .layers = 1, .heads = heads});
    for (const std::string name : {"w1", "b1", "w2", "b2", "w3", "b3"})
      encoding.set("mlp." + name, one.at(name));
    const Positions positions;
    const PairValues bias = additive_bias((*encoding).attention_terms(encoding.context(positions, tokens)));
    EXPECT_EQ("", difference(bias.dense(tokens, tokens).squeeze(0), reference_tensor(one.at("bias")),
                             kReleasedTolerance));
  }
}

TEST(Encodings2026Reference, Pope) {
  for (const json& one : cases_of("pope")) {
    const std::int64_t heads = one.at("heads");
    const std::int64_t width = one.at("head_width");
    const auto positions = one.at("positions").get<Positions::List>();
    ReferenceEncoding encoding("pope", {}, {.width = heads * width, .layers = 1, .heads = heads});
    encoding.set("delta", one.at("delta"));
    const at::Tensor q = reference_input(one.at("q")).to(at::kDouble).unsqueeze(0).requires_grad_(true);
    const at::Tensor k = reference_input(one.at("k")).to(at::kDouble).unsqueeze(0).requires_grad_(true);
    const Positions given = Positions::given({positions}, {}, 1000);
    const EncodingContext context = encoding.context(given, q.size(2));
    const at::Tensor turned_q = (*encoding).rotate(q, Operand::kQueries, context).transpose(2, 3);
    const at::Tensor turned_k = (*encoding).rotate(k, Operand::kKeys, context).transpose(2, 3);
    const at::Tensor logits =
        at::matmul(turned_q, turned_k.transpose(3, 4)) / std::sqrt(static_cast<double>(width));
    EXPECT_EQ("", difference(logits.squeeze(0), reference_tensor(one.at("logits")), kReleasedTolerance));
    (logits.squeeze(0) * reference_tensor(one.at("weight"))).sum().backward();
    EXPECT_EQ("", difference(q.grad().squeeze(0), reference_tensor(one.at("d_q")), kReleasedTolerance));
    EXPECT_EQ("", difference(k.grad().squeeze(0), reference_tensor(one.at("d_k")), kReleasedTolerance));
    EXPECT_EQ("", difference(encoding.parameter("delta").grad().squeeze(0),
                             reference_tensor(one.at("d_delta")), kReleasedTolerance));
  }
}

TEST(Encodings2026Reference, Fox) {
  for (const json& one : cases_of("fox")) {
    const std::int64_t heads = one.at("heads");
    const std::int64_t tokens = one.at("tokens");
    ReferenceEncoding encoding(
        "fox", {},
        {.width = one.at("width"), .layers = 1, .heads = heads, .causal = one.at("causal").get<bool>()});
    encoding.set("fox.w", one.at("w"));
    encoding.set("fox.b", one.at("b"));
    const Positions positions;
    EncodingContext context = encoding.context(positions, tokens);
    context.input = reference_input(one.at("x")).to(at::kDouble).unsqueeze(0).requires_grad_(true);
    const at::Tensor bias =
        additive_bias((*encoding).attention_terms(context)).dense(tokens, tokens).squeeze(0);
    (bias * reference_tensor(one.at("weight"))).sum().backward();
    // Keys after the query of a decoder are the mask's.
    const auto seen = [&](const at::Tensor& x) { return one.at("causal").get<bool>() ? x.tril() : x; };
    EXPECT_EQ("", difference(seen(bias), seen(reference_tensor(one.at("bias"))), kReleasedTolerance));
    EXPECT_EQ(
        "", difference(context.input.grad().squeeze(0), reference_tensor(one.at("d_x")), kReleasedTolerance));
    for (const std::string name : {"w", "b"}) {
      EXPECT_EQ("", difference(encoding.parameter("fox." + name).grad().squeeze(0),
                               reference_tensor(one.at("d_" + name)), kReleasedTolerance))
          << name;
    }
  }
}

}  // namespace
}  // namespace che
