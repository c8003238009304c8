#include "tests/models/kernels/fused_comparison.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <oneapi/tbb/global_control.h>

#include "tests/models/encoding_rig.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

std::vector<at::Tensor> leaves(const std::vector<at::Tensor>& inputs, at::ScalarType type) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& input : inputs)
    copies.push_back(input.detach().to(type).clone().requires_grad_(true));
  return copies;
}

// Lets the kernels run on one instruction set while it lives.
class OnTarget {
 public:
  explicit OnTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
  }
  ~OnTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
  OnTarget(const OnTarget&) = delete;
  OnTarget& operator=(const OnTarget&) = delete;
};

// The ones that models/CMakeLists.txt builds for, as far as this machine has them.
std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> own;
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2}) {
    if ((hwy::SupportedTargets() & target) != 0) own.push_back(target);
  }
  own.push_back(HWY_SCALAR);
  return own;
}

void expect_close(const Outcome& actual, const Outcome& expected, double tolerance) {
  EXPECT_EQ("", difference(actual.value, expected.value, tolerance));
  ASSERT_EQ(expected.gradients.size(), actual.gradients.size());
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    SCOPED_TRACE("gradient of input " + std::to_string(i));
    EXPECT_EQ("", difference(actual.gradients[i], expected.gradients[i], tolerance));
  }
}

}  // namespace

Outcome outcome_of(const Operation& f, const std::vector<at::Tensor>& inputs) {
  const at::Tensor value = f(inputs);
  (value * some_numbers(value.sizes().vec(), 99).to(value.options())).sum().backward();
  Outcome outcome{value.detach(), {}};
  for (const at::Tensor& input : inputs) {
    outcome.gradients.push_back(input.grad().defined() ? input.grad().clone() : at::zeros_like(input));
  }
  return outcome;
}

void expect_fused_equals_reference(const Operation& fused, const Operation& reference,
                                   const std::vector<at::Tensor>& inputs, double tolerance) {
  const Outcome expected = outcome_of(reference, leaves(inputs, at::kDouble));
  for (const std::int64_t target : targets()) {
    SCOPED_TRACE(std::string("on ") + hwy::TargetName(target));
    const OnTarget on(target);
    std::vector<Outcome> outcomes;
    for (const std::size_t threads : {1, 2}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      outcomes.push_back(outcome_of(fused, leaves(inputs, at::kFloat)));
    }
    expect_close(outcomes[0], expected, tolerance);
    EXPECT_TRUE(at::equal(outcomes[0].value, outcomes[1].value)) << "threads change the value";
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_TRUE(at::equal(outcomes[0].gradients[i], outcomes[1].gradients[i]))
          << "threads change the gradient of input " << i;
    }
  }
}

}  // namespace che
