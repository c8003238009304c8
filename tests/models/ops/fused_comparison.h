#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "models/ops/device/backend.h"

namespace che {

// An operation and its gradients, for inputs in one type.
struct Outcome {
  at::Tensor value;
  std::vector<at::Tensor> gradients;  // Of the inputs that ask for one, along a fixed direction of the value.
};

// The backend of such inputs: the fused operations take single precision, the reference is asked in double.
Backend test_backend(Kernels kernels);

using Operation = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

// Inputs are leaves; f's value meets some_numbers() before it is summed.
Outcome outcome_of(const Operation& f, const std::vector<at::Tensor>& inputs);

// What single precision may differ from double, relative to max(1, |expected|).
struct Tolerance {
  double value = 2e-5;  // Of the value, and of gradients of inputs before `first_sum`.
  double sum = 2e-5;    // Of gradients of the inputs from `first_sum` on, sums over many pairs.
  std::size_t first_sum = std::numeric_limits<std::size_t>::max();
};

// Expects `fused` in single precision to equal `reference` in double, value and gradients of every
// input, within `tolerance`: on every instruction set that this machine has, and bit for bit the same with
// one thread and with two.
void expect_fused_equals_reference(const Operation& fused, const Operation& reference,
                                   const std::vector<at::Tensor>& inputs, const Tolerance& tolerance = {});

}  // namespace che
