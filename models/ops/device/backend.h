#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/TensorOptions.h>
#include <torch/csrc/autograd/custom_function.h>

#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "models/ops/device/kernel_table.h"
#include "models/ops/product/product.h"

namespace che {

class DeviceGraphs;
class StepUploads;

// A GPU that this process computes on, and the state of the work on it.
struct Gpu {
  c10::Device device;
  const CudaLibrary* library;
  CudaDevice description = {};
  GpuPrecision precision = GpuPrecision::kFp32;
  const GpuStep* step = nullptr;     // See KernelCall.
  StepUploads* recording = nullptr;  // Notes the copies of the training step that is being made.
  // Creates graphs of the device; new_device_graphs() loads the program's own where this is null.
  std::unique_ptr<DeviceGraphs> (*create_graphs)() = nullptr;

  // Sets the precision of the kernels' products and of LibTorch's.
  void set_precision(GpuPrecision of_products);
};

// The kernels, the device and the type that compute a model.
struct Backend {
  Kernels kernels;
  at::TensorOptions options;            // Device and type of parameters and activations.
  std::shared_ptr<Gpu> gpu = nullptr;   // Null on a CPU.
  Operands operands = Operands::kFp32;  // Those of linear layers, but for the one that makes logits.

  at::Device device() const { return options.device(); }
};

// The fused operations that take `x`, or tensors of the backend's device and type; null where the reference
// does.
const KernelTable* fused_kernels(const Backend& backend, const at::Tensor& x);
const KernelTable* fused_kernels(const Backend& backend);

// The kernels of the backend's device. Throws Error where it has none.
const KernelTable& device_kernels(const Backend& backend);

// The KernelCall of one call: its stream, its workspace and the device guard. The allocator gives the
// workspace to nothing but later work of the same stream.
class KernelScope {
 public:
  explicit KernelScope(const Backend& backend);
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

  const KernelCall& call() const { return call_; }

  // Throws Error (runtime) unless a kernel returned kKernelDone.
  void check(int answer, const char* operation) const;

 private:
  const Gpu* gpu_;  // Null on a CPU.
  c10::OptionalDeviceGuard guard_;
  at::Tensor workspace_;
  KernelCall call_;
};

// Calls a kernel of the backend's device, in its current stream. Throws Error (runtime) that names
// `operation` where it fails.
template <class... Parameters>
void run_kernel(const Backend& backend, const char* operation,
                int (*kernel)(const KernelCall&, Parameters...),
                const std::type_identity_t<Parameters>&... arguments) {
  const KernelScope scope(backend);
  scope.check(kernel(scope.call(), arguments...), operation);
}

// Keeps a value of a forward pass that is no tensor for its backward pass.
template <class Value>
struct KeptValue : torch::CustomClassHolder {
  explicit KeptValue(Value held) : value(std::move(held)) {}
  Value value;
};
template <class Value>
void keep(torch::autograd::AutogradContext* context, Value value) {
  context->saved_data["kept"] =
      c10::IValue::make_capsule(c10::make_intrusive<KeptValue<Value>>(std::move(value)));
}
template <class Value>
const Value& kept(torch::autograd::AutogradContext* context) {
  return static_cast<const KeptValue<Value>&>(*context->saved_data.at("kept").toCapsule()).value;
}

// Whether a backward pass may ask for the gradient of any of `inputs`; undefined ones are none.
bool needs_gradient(std::initializer_list<at::Tensor> inputs);

// Throws Error unless `x`, called `name` in the message, has that shape and the type and device of `like`.
void check_operand(std::string_view name, const at::Tensor& x, at::IntArrayRef shape, const at::Tensor& like);
// Throws it for an operand with a type of its own.
void check_operand(std::string_view name, const at::Tensor& x, at::IntArrayRef shape, at::ScalarType type,
                   at::Device device);

// The examples of (replicas, batch, rows...) tensors whose rows of one example follow each other.
ExampleView<const float> examples_of(const at::Tensor& values);
ExampleView<float> mutable_examples_of(const at::Tensor& values);

}  // namespace che
