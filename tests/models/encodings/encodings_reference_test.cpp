// Encodings against numbers made with the published programs (tests/reference/encodings.json).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "models/encodings/alibi.h"
#include "models/encodings/encoding.h"
#include "models/encodings/relative.h"
#include "models/encodings/rotary.h"
#include "models/ops/attention/attention.h"
#include "models/ops/rotation/rotation.h"
#include "tests/models/explicit_positions.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-5;
const at::TensorOptions kDouble = at::TensorOptions().dtype(at::kDouble);
const Backend kReference{Kernels::kReference, kDouble};

class EncodingsReference : public testing::Test {
 protected:
  const json& cases(const char* section) const { return file_.at(section); }
  std::vector<std::string> sections() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : file_.items()) names.push_back(name);
    return names;
  }

 private:
  json file_ = read_reference(reference_dir() / "encodings.json");
};

// The untrained bias of an encoding without parameters, (heads, tokens, tokens).
at::Tensor bias_of(const std::string& name, const Positions& positions, std::int64_t heads,
                   std::int64_t tokens) {
  const ParameterSet none({}, 1, kDouble);
  const ModelShape shape{.width = heads, .layers = 1, .heads = heads};
  TableCache tables;
  const EncodingContext context{shape, 0, tokens, 0, positions, {none, ""}, {none, ""}, kReference, tables};
  return additive_bias(create_encoding(name)->attention_terms(context)).dense(tokens, tokens).squeeze(0);
}

TEST_F(EncodingsReference, SinCosTable) {
  for (const json& one : cases("sin_cos")) {
    const auto first = one.value("first_position", std::int64_t{0});
    Positions::List positions;
    for (std::int64_t p = first; p < one.at("length").get<std::int64_t>(); ++p)
      positions.push_back(static_cast<double>(p));
    EXPECT_EQ("", difference(sinusoid(positions, one.at("dim"), one.at("max_time")),
                             reference_tensor(one.at("table")), 1e-8));
  }
}

TEST_F(EncodingsReference, SinCosRandomized) {
  for (const json& one : cases("sin_cos_randomized")) {
    const auto positions = one.at("positions").get<Positions::List>();
    EXPECT_EQ("", difference(sinusoid(positions, one.at("dim"), one.at("max_time")),
                             reference_tensor(one.at("encodings")), kTolerance));
  }
}

TEST_F(EncodingsReference, AlibiBias) {
  for (const json& one : cases("alibi")) {
    const auto heads = one.at("heads").get<std::int64_t>();
    const auto queries = one.at("query_length").get<std::int64_t>();
    const auto keys = one.at("key_length").get<std::int64_t>();
    EXPECT_EQ(
        "", difference(at::tensor(alibi_slopes(heads), at::kDouble), reference_list(one.at("slopes")), 1e-8));
    const at::Tensor bias = bias_of("alibi", Positions(), heads, std::max(queries, keys));
    EXPECT_EQ("", difference(bias.slice(1, 0, queries).slice(2, 0, keys), reference_tensor(one.at("bias")),
                             kTolerance));
  }
}

TEST_F(EncodingsReference, AlibiRandomized) {
  for (const json& one : cases("alibi_randomized")) {
    const auto heads = one.at("heads").get<std::int64_t>();
    const auto length = one.at("length").get<std::int64_t>();
    const auto side = [&](const char* distances) {
      return bias_of(
          "alibi",
          positions_with_distances({one.at(distances).get<Positions::List>()}, one.at("noise_max_length")),
          heads, length);
    };
    // The harness draws one list for both sides; where the file has two, each is checked on its own.
    const at::Tensor bias = at::triu(side("right_distances")) + at::tril(side("left_distances"), -1);
    EXPECT_EQ("", difference(bias, reference_tensor(one.at("bias")), kTolerance));
  }
}

TEST_F(EncodingsReference, Rotary) {
  for (const json& one : cases("rotary")) {
    const auto positions = one.at("positions").get<Positions::List>();
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      const std::string twin = type == at::kDouble ? "_exact" : "";
      const double tolerance = type == at::kDouble ? 1e-8 : kTolerance;
      const auto rotated = [&](const char* name) {
        const at::Tensor heads = reference_input(one.at(name)).to(type).unsqueeze(0);
        const at::Tensor frequencies = rotary_frequencies(heads.size(4), one.at("max_time"));
        const at::Tensor turns = sines_and_cosines({rotary_angles(positions, frequencies)});
        return rotate(heads, turns[0], turns[1], kReference).squeeze(0);
      };
      const at::Tensor q = rotated("q");
      const at::Tensor k = rotated("k");
      EXPECT_EQ("", difference(q, reference_tensor(one.at("q_rotated" + twin)), tolerance));
      EXPECT_EQ("", difference(k, reference_tensor(one.at("k_rotated" + twin)), tolerance));
      if (type == at::kDouble) {
        const at::Tensor logits = at::einsum("bihd,bjhd->bhij", {q, k});
        EXPECT_EQ("", difference(logits, reference_tensor(one.at("logits_unscaled_exact")), tolerance));
      }
    }
  }
}

// The logits before scaling, (batch, heads, queries, keys), of a case of `relative`.
class RelativeCase {
 public:
  explicit RelativeCase(const json& one)
      : q_(reference_input(one.at("q")).unsqueeze(0).transpose(2, 3)),
        k_(reference_input(one.at("k")).unsqueeze(0).transpose(2, 3)),
        parameters_({{"wr", sizes(one.at("W_r")), {}},
                     {"u", sizes(one.at("u_content_bias")), {}},
                     {"v", sizes(one.at("v_relative_bias")), {}}},
                    1, kDouble) {
    // The encoding has the published constant.
    EXPECT_EQ(10000, one.at("max_time").get<double>());
    set("wr", reference_input(one.at("W_r")));
    set("u", reference_input(one.at("u_content_bias")));
    set("v", reference_input(one.at("v_relative_bias")));
  }

  std::int64_t tokens() const { return k_.size(3); }

  void set(const char* name, const at::Tensor& value) { parameters_[name].data().copy_(value); }

  at::Tensor logits(const Positions& positions, const OptionValues& options = {}) const {
    const double scale = std::sqrt(static_cast<double>(q_.size(4)));
    const ModelShape shape{.width = q_.size(2) * q_.size(4), .layers = 1, .heads = q_.size(2)};
    TableCache tables;
    const EncodingContext context{
        shape, 0, tokens(), 0, positions, {parameters_, ""}, {parameters_, ""}, kReference, tables};
    const auto relative = create_encoding("relative", AnyOptions(RelativeOptions()).with(options));
    const at::Tensor scaled = at::matmul(q_, k_.transpose(3, 4)) / scale;
    return reference::logits(scaled, q_, k_, relative->attention_terms(context), false).squeeze(0) * scale;
  }

 private:
  static std::vector<std::int64_t> sizes(const json& object) { return object.at("shape"); }

  at::Tensor q_;  // (1, batch, heads, tokens, head_width)
  at::Tensor k_;
  ParameterSet parameters_;
};

TEST_F(EncodingsReference, Relative) {
  for (const json& one : cases("relative")) {
    RelativeCase relative(one);
    EXPECT_EQ("", difference(relative.logits(Positions()), reference_tensor(one.at("logits_unscaled")),
                             kTolerance));
    relative.set("wr", at::zeros_like(reference_tensor(one.at("W_r"))));
    EXPECT_EQ(
        "", difference(relative.logits(Positions()), reference_tensor(one.at("content_logits")), kTolerance));
  }
}

TEST_F(EncodingsReference, RelativeRandomized) {
  const RelativeCase relative(cases("relative").at(0));
  for (const json& one : cases("relative_randomized")) {
    // As with ALiBi, the harness draws one list for both sides.
    const auto logits = [&](const char* reading) {
      const auto side = [&](const char* distances) {
        return relative.logits(
            positions_with_distances({one.at(distances).get<Positions::List>()}, one.at("noise_max_length")),
            {{"randomized_relative", reading}});
      };
      return at::triu(side("right_distances")) + at::tril(side("left_distances"), -1);
    };
    EXPECT_EQ(
        "", difference(logits("intended"), reference_tensor(one.at("logits_unscaled_intended")), kTolerance));
    EXPECT_EQ("", difference(logits("as_released"), reference_tensor(one.at("logits_unscaled_as_released")),
                             kTolerance));
  }
}

// A section that no test reads would pass unseen.
TEST_F(EncodingsReference, HasNoOtherSection) {
  const std::set<std::string> known{"sin_cos",  "sin_cos_randomized", "alibi", "alibi_randomized", "rotary",
                                    "relative", "relative_randomized"};
  for (const std::string& section : sections()) EXPECT_TRUE(known.contains(section)) << section;
}

}  // namespace
}  // namespace che
