// Encodings against numbers made with the published programs (tests/reference/encodings.json).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "models/encodings/alibi.h"
#include "models/encodings/rotary.h"
#include "models/ops/rotation/rotation.h"
#include "tests/models/encodings/encoding_rig.h"
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

// An encoding with its default options but for `options`, for one layer.
EncodingRig rig_with(const std::string& name, const OptionValues& options, std::int64_t heads,
                     std::int64_t head_width) {
  EncodingConfig config;
  config.reset(name);
  config.set_options(options);
  return {config, {.width = heads * head_width, .layers = 1, .heads = heads}, 1};
}

// ALiBi's bias, (heads, tokens, tokens).
at::Tensor alibi_bias(const Positions& positions, std::int64_t heads, std::int64_t tokens) {
  const at::Tensor zero = at::zeros({1, 1, tokens, heads, 1}, kDouble);
  return rig_with("alibi", {}, heads, 1).logits(zero, zero, positions)[0][0];
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
    const at::Tensor bias = alibi_bias(Positions(), heads, std::max(queries, keys));
    EXPECT_EQ("", difference(bias.slice(1, 0, queries).slice(2, 0, keys), reference_tensor(one.at("bias")),
                             kTolerance));
  }
}

TEST_F(EncodingsReference, AlibiRandomized) {
  for (const json& one : cases("alibi_randomized")) {
    const auto heads = one.at("heads").get<std::int64_t>();
    const auto length = one.at("length").get<std::int64_t>();
    const auto side = [&](const char* distances) {
      return alibi_bias(
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

// The logits before scaling, (batch, heads, queries, keys), of a case of `relative`, with W_r or without it.
at::Tensor relative_logits(const json& one, const Positions& positions, const OptionValues& options = {},
                           bool has_wr = true) {
  // The encoding has the published constant.
  EXPECT_EQ(10000, one.at("max_time").get<double>());
  const at::Tensor q = reference_input(one.at("q")).to(at::kDouble).unsqueeze(0);
  const at::Tensor k = reference_input(one.at("k")).to(at::kDouble).unsqueeze(0);
  const EncodingRig rig = rig_with("relative", options, q.size(3), q.size(4));
  const auto set = [&](const char* name, const char* stored, double factor) {
    rig.parameter(0, name).data().copy_(reference_input(one.at(stored)) * factor);
  };
  set("wr", "W_r", has_wr ? 1 : 0);
  set("u", "u_content_bias", 1);
  set("v", "v_relative_bias", 1);
  return rig.logits(q, k, positions)[0] * std::sqrt(static_cast<double>(q.size(4)));
}

TEST_F(EncodingsReference, Relative) {
  for (const json& one : cases("relative")) {
    EXPECT_EQ("", difference(relative_logits(one, Positions()), reference_tensor(one.at("logits_unscaled")),
                             kTolerance));
    EXPECT_EQ("", difference(relative_logits(one, Positions(), {}, false),
                             reference_tensor(one.at("content_logits")), kTolerance));
  }
}

TEST_F(EncodingsReference, RelativeRandomized) {
  for (const json& one : cases("relative_randomized")) {
    // As with ALiBi, the harness draws one list for both sides.
    const auto logits = [&](const char* reading) {
      const auto side = [&](const char* distances) {
        return relative_logits(
            cases("relative").at(0),
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
