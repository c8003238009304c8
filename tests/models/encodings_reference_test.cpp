// Encodings against numbers made with the published programs (tests/reference/encodings.json).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/encodings/alibi_slopes.h"
#include "models/encodings/encoding_hooks.h"
#include "models/encodings/rotary.h"
#include "models/encodings/sinusoid.h"
#include "tests/models/explicit_positions.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-5;
const at::TensorOptions kDouble = at::TensorOptions().dtype(at::kDouble);

class EncodingsReference : public testing::Test {
 protected:
  const json& cases(const char* section) const { return file_.at(section); }

 private:
  json file_ = read_reference(reference_dir() / "encodings.json");
};

// The untrained bias of an encoding without parameters, (heads, tokens, tokens).
at::Tensor bias_of(const std::string& name, const Positions& positions, std::int64_t heads,
                   std::int64_t tokens) {
  const ParameterSet none({}, 1, kDouble);
  return create_encoding(name)->bias({0, tokens, 0, positions, {none, ""}, kDouble}, heads).squeeze(0);
}

TEST_F(EncodingsReference, SinCosTable) {
  for (const json& one : cases("sin_cos")) {
    const auto first = one.value("first_position", std::int64_t{0});
    std::vector<std::int64_t> positions;
    for (std::int64_t p = first; p < one.at("length").get<std::int64_t>(); ++p) positions.push_back(p);
    EXPECT_EQ("", difference(sinusoid(positions, one.at("dim"), one.at("max_time")),
                             reference_tensor(one.at("table")), 1e-8));
  }
}

TEST_F(EncodingsReference, SinCosRandomized) {
  for (const json& one : cases("sin_cos_randomized")) {
    const auto positions = one.at("positions").get<std::vector<std::int64_t>>();
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
    const at::Tensor bias = bias_of("alibi", ContiguousPositions(), heads, std::max(queries, keys));
    EXPECT_EQ("", difference(bias.slice(1, 0, queries).slice(2, 0, keys), reference_tensor(one.at("bias")),
                             kTolerance));
  }
}

TEST_F(EncodingsReference, AlibiRandomized) {
  for (const json& one : cases("alibi_randomized")) {
    const auto heads = one.at("heads").get<std::int64_t>();
    const auto length = one.at("length").get<std::int64_t>();
    const auto side = [&](const char* distances) {
      return bias_of("alibi",
                     ExplicitPositions::from_distances({one.at(distances).get<std::vector<std::int64_t>>()}),
                     heads, length);
    };
    // The harness draws one list for both sides; where the file has two, each is checked on its own.
    const at::Tensor bias = at::triu(side("right_distances")) + at::tril(side("left_distances"), -1);
    EXPECT_EQ("", difference(bias, reference_tensor(one.at("bias")), kTolerance));
  }
}

TEST_F(EncodingsReference, Rotary) {
  for (const json& one : cases("rotary")) {
    const auto positions = one.at("positions").get<std::vector<std::int64_t>>();
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      const std::string twin = type == at::kDouble ? "_exact" : "";
      const double tolerance = type == at::kDouble ? 1e-8 : kTolerance;
      const auto rotated = [&](const char* name) {
        const at::Tensor heads = reference_input(one.at(name)).to(type).unsqueeze(0);
        return rotate_pairs(heads, positions, one.at("max_time")).squeeze(0);
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

TEST_F(EncodingsReference, Relative) {
  if (!encoding_exists("relative")) GTEST_SKIP() << "relative: encoding not registered";
}

TEST_F(EncodingsReference, RelativeRandomized) {
  if (!encoding_exists("relative")) GTEST_SKIP() << "relative: encoding not registered";
}

}  // namespace
}  // namespace che
