#include "tests/models/ops/fused_comparison.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/ops/targets.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

std::vector<at::Tensor> leaves(const std::vector<at::Tensor>& inputs, at::ScalarType type) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& input : inputs)
    copies.push_back(input.detach().to(type).clone().requires_grad_(true));
  return copies;
}

void expect_close(const Outcome& actual, const Outcome& expected, const Tolerance& tolerance) {
  EXPECT_EQ("", difference(actual.value, expected.value, tolerance.value));
  ASSERT_EQ(expected.gradients.size(), actual.gradients.size());
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    SCOPED_TRACE("gradient of input " + std::to_string(i));
    const double allowed = i < tolerance.first_sum ? tolerance.value : tolerance.sum;
    EXPECT_EQ("", difference(actual.gradients[i], expected.gradients[i], allowed));
  }
}

}  // namespace

Backend test_backend(Kernels kernels) {
  return {kernels, at::TensorOptions().dtype(kernels == Kernels::kFused ? at::kFloat : at::kDouble)};
}

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
                                   const std::vector<at::Tensor>& inputs, const Tolerance& tolerance) {
  const Outcome expected = outcome_of(reference, leaves(inputs, at::kDouble));
  for (const std::int64_t target : kernel_targets()) {
    SCOPED_TRACE("on " + target_name(target));
    const OnTarget on(target);
    std::vector<Outcome> outcomes;
    for (const int threads : {1, 2}) {
      at::set_num_threads(threads);
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                      static_cast<std::size_t>(threads));
      outcomes.push_back(outcome_of(fused, leaves(inputs, at::kFloat)));
    }
    at::set_num_threads(1);
    expect_close(outcomes[0], expected, tolerance);
    EXPECT_TRUE(at::equal(outcomes[0].value, outcomes[1].value)) << "threads change the value";
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_TRUE(at::equal(outcomes[0].gradients[i], outcomes[1].gradients[i]))
          << "threads change the gradient of input " << i;
    }
  }
}

}  // namespace che
