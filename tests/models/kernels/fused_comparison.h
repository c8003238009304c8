#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace che {

// An operation and its gradients, for inputs in one type.
struct Outcome {
  at::Tensor value;
  std::vector<at::Tensor> gradients;  // Of the inputs that ask for one, along a fixed direction of the value.
};

using Operation = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

// Inputs are leaves; f's value meets some_numbers() before it is summed.
Outcome outcome_of(const Operation& f, const std::vector<at::Tensor>& inputs);

// Expects `fused` in single precision to equal `reference` in double, value and gradients of every
// input, within `tolerance` max(1, |expected|): on every instruction set that this machine has, and
// bit for bit the same with one thread and with two; `with_blas`: it calls matrix products, which may
// differ and get one thread.
void expect_fused_equals_reference(const Operation& fused, const Operation& reference,
                                   const std::vector<at::Tensor>& inputs, double tolerance = 2e-5,
                                   bool with_blas = false);

}  // namespace che
