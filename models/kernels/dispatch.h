#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "models/kernels/forms/kernel_table.h"

namespace che {

// Which implementation of the model's operations runs: those fused by hand, in single precision on devices
// that have them, or compositions of LibTorch's operations, which also serve every other type and device and
// what no fused operation covers. Both compute the same up to rounding.
enum class Kernels : std::uint8_t { kFused, kReference };

// The config's word: "fused" or "reference". Throws Error for another.
Kernels kernels_named(std::string_view name);

// What computes a model.
struct Backend {
  Kernels kernels;
  at::TensorOptions options;  // Device and type of parameters and activations.

  at::Device device() const { return options.device(); }
};

// The fused operations that take `x`, or tensors of the backend's device and type; null where the reference
// does.
const KernelTable* fused_kernels(const Backend& backend, const at::Tensor& x);
const KernelTable* fused_kernels(const Backend& backend);

// The fused operations of the device that holds `x`. Throws Error where there are none.
const KernelTable& device_kernels(const at::Tensor& x);

// Whether a backward pass may ask for the gradient of any of `inputs`; undefined ones are none.
bool needs_gradient(std::initializer_list<at::Tensor> inputs);

// Throws Error unless `x`, called `name` in the message, has that shape and the type and device of
// `like`.
void check_operand(std::string_view name, const at::Tensor& x, at::IntArrayRef shape, const at::Tensor& like);
// The same of an operand with a type of its own.
void check_operand(std::string_view name, const at::Tensor& x, at::IntArrayRef shape, at::ScalarType type,
                   at::Device device);

// The examples of (replicas, batch, rows...) tensors whose rows of one example follow each other.
ExampleView<const float> examples_of(const at::Tensor& values);
ExampleView<float> mutable_examples_of(const at::Tensor& values);

}  // namespace che
