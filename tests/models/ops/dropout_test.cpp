#include "models/ops/dropout/dropout.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <utility>

#include "core/error.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

const Dropout kDropout{0.1, {5, 6}, Purpose::kDropout, 3, 0};

at::Tensor dropped(const Dropout& which, const at::Tensor& x, std::uint32_t site, std::int64_t first_token) {
  return dropout(x, {which, site, first_token}, {Kernels::kReference, x.options()});
}

TEST(Dropout, KeepsTheExpectation) {
  const at::Tensor values = dropped(kDropout, at::ones({2, 50, 20, 16}), 1, 0);
  const auto zeros = values.eq(0).sum().item<double>() / static_cast<double>(values.numel());
  EXPECT_NEAR(0.1, zeros, 0.006);
  EXPECT_NEAR(1.0, values.mean().item<double>(), 0.007);
  EXPECT_EQ("", difference(values.masked_select(values.ne(0)),
                           at::full({values.ne(0).sum().item<std::int64_t>()}, 1 / 0.9), 1e-4));
}

TEST(Dropout, OfATrimmedSequenceIsTheRestOfTheWhole) {
  const at::Tensor ones = at::ones({2, 3, 7, 5});
  const at::Tensor whole = dropped(kDropout, ones, 4, 0);
  EXPECT_TRUE(at::equal(whole.slice(2, 3), dropped(kDropout, ones.slice(2, 3), 4, 3)));
}

TEST(Dropout, OfASplitBatchIsTheSame) {
  const at::Tensor ones = at::ones({2, 4, 7, 5});
  const at::Tensor whole = dropped(kDropout, ones, 4, 0);
  Dropout rest = kDropout;
  rest.first_example = 3;
  EXPECT_TRUE(at::equal(whole.slice(1, 3), dropped(rest, ones.slice(1, 3), 4, 0)));
}

TEST(Dropout, DiffersBetweenReplicasStepsAndSites) {
  const at::Tensor ones = at::ones({2, 4, 20, 16});
  const at::Tensor base = dropped(kDropout, ones, 4, 0);
  EXPECT_FALSE(at::equal(base[0], base[1]));
  EXPECT_FALSE(at::equal(base, dropped(kDropout, ones, 5, 0)));
  Dropout next = kDropout;
  next.step = 4;
  EXPECT_FALSE(at::equal(base, dropped(next, ones, 4, 0)));
  // A replica's mask does not depend on its companions.
  Dropout alone = kDropout;
  alone.seeds = {6};
  EXPECT_TRUE(at::equal(base.slice(0, 1), dropped(alone, ones.slice(0, 1), 4, 0)));
}

TEST(Dropout, FusedIsTheReference) {
  const DropoutSite site{kDropout, 4, 3};
  const auto outcome = [&](Kernels kernels) {
    at::Tensor x = at::arange(2 * 3 * 7 * 5, at::kFloat).view({2, 3, 7, 5}).requires_grad_(true);
    const at::Tensor y = dropout(x, site, {kernels, at::kFloat});
    (y * y).sum().backward();
    return std::pair(y.detach(), x.grad());
  };
  const auto [y, gradient] = outcome(Kernels::kFused);
  const auto [expected, expected_gradient] = outcome(Kernels::kReference);
  EXPECT_TRUE(at::equal(expected, y));
  EXPECT_TRUE(at::equal(expected_gradient, gradient));
}

TEST(Dropout, NeedsASeedForEachReplica) {
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    EXPECT_THROW(dropout(at::ones({3, 1, 1, 1}), {kDropout, 1, 0}, {kernels, at::kFloat}), Error);
  }
}

}  // namespace
}  // namespace che
