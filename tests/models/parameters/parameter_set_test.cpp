#include "models/parameters/parameter_set.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace che {
namespace {

const at::TensorOptions kFloat = at::TensorOptions().dtype(at::kFloat);
const std::vector<std::int64_t> kSeeds{1, 2};

TEST(ParameterSet, DrawsTheDistributionsItWasAskedFor) {
  ParameterSet set({{"cut", {20'000}, Init::truncated_normal(0.5)},
                    {"flat", {20'000}, Init::uniform(-1, 3)},
                    {"bell", {20'000}, Init::normal(2)},
                    {"one", {7}, Init::constant(1)}},
                   2, kFloat);
  set.initialise(kSeeds);
  EXPECT_LE(set["cut"].abs().max().item<double>(), 1.0);
  // A standard normal cut at 2 has a standard deviation of 0.8796.
  EXPECT_NEAR(0.8796 * 0.5, set["cut"].std().item<double>(), 0.01);
  EXPECT_NEAR(1.0, set["flat"].mean().item<double>(), 0.03);
  EXPECT_GE(set["flat"].min().item<double>(), -1.0);
  EXPECT_LT(set["flat"].max().item<double>(), 3.0);
  EXPECT_NEAR(2.0, set["bell"].std().item<double>(), 0.04);
  EXPECT_TRUE(set["one"].eq(1).all().item<bool>());
  EXPECT_FALSE(at::equal(set["cut"][0], set["cut"][1]));
}

TEST(ParameterSet, DrawsByNameWhateverElseThereIs) {
  ParameterSet with({{"extra", {3}, Init::normal(1)}, {"w", {4, 5}, Init::normal(1)}}, 1, kFloat);
  ParameterSet without({{"w", {4, 5}, Init::normal(1)}}, 2, kFloat);
  with.initialise(std::vector<std::int64_t>{2});
  without.initialise(kSeeds);
  EXPECT_TRUE(at::equal(with["w"][0], without["w"][1]));
}

TEST(ParameterSet, NamedTensorsAreViewsOfOne) {
  ParameterSet set({{"a", {2}, Init::constant(0)}, {"b", {3}, Init::constant(0)}}, 2, kFloat);
  set.values().copy_(at::arange(10).view({2, 5}));
  EXPECT_EQ(7, set["b"][1][0].item<double>());
  (set["b"] * set["b"]).sum().backward();
  set.collect_gradients();
  EXPECT_EQ(14, set.gradients()[1][2].item<double>());
  EXPECT_EQ(0, set.gradients()[1][0].item<double>());
}

TEST(ParameterSet, RefusesUnknownAndDoubleNames) {
  const ParameterSet set({{"a", {2}, Init::constant(0)}}, 1, kFloat);
  EXPECT_THROW(set["b"], Error);
  EXPECT_THROW(ParameterSet({{"a", {2}, {}}, {"a", {2}, {}}}, 1, kFloat), Error);
}

}  // namespace
}  // namespace che
