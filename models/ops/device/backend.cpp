#include "models/ops/device/backend.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"

namespace che {
namespace {

const KernelTable* table_of(const Backend& backend) {
  if (backend.device().is_cpu()) return &cpu_kernels();
  return backend.gpu == nullptr ? nullptr : &backend.gpu->library->kernels;
}

}  // namespace

void Gpu::set_precision(GpuPrecision of_products) {
  precision = of_products;
  at::globalContext().setAllowTF32CuBLAS(of_products == GpuPrecision::kTf32);
}

const KernelTable* fused_kernels(const Backend& backend, const at::Tensor& x) {
  if (x.scalar_type() != at::kFloat || x.device().type() != backend.device().type()) return nullptr;
  return backend.kernels == Kernels::kFused ? table_of(backend) : nullptr;
}

const KernelTable* fused_kernels(const Backend& backend) {
  return backend.kernels == Kernels::kFused && backend.options.dtype() == at::kFloat ? table_of(backend)
                                                                                     : nullptr;
}

const KernelTable& device_kernels(const Backend& backend) {
  if (const KernelTable* const table = table_of(backend)) return *table;
  throw Error(fmt::format("no fused operations for device {}", backend.device().str()), ErrorKind::kRuntime);
}

KernelScope::KernelScope(const Backend& backend) : gpu_(backend.gpu.get()) {
  if (gpu_ == nullptr) return;
  guard_.reset_device(gpu_->device);
  const c10::impl::VirtualGuardImpl streams(gpu_->device.type());
  call_ = {.stream = streams.getStreamNativeHandle(streams.getStream(gpu_->device)),
           .allocate =
               [](void* owner, std::int64_t floats) {
                 auto& scope = *static_cast<KernelScope*>(owner);
                 scope.workspace_ =
                     at::empty({floats}, at::TensorOptions().dtype(at::kFloat).device(scope.gpu_->device));
                 return scope.workspace_.mutable_data_ptr<float>();
               },
           .owner = this,
           .precision = gpu_->precision,
           .step = gpu_->step};
}

void KernelScope::check(int answer, const char* operation) const {
  if (answer == kKernelDone) return;
  if (answer == kKernelNotServed) {
    throw Error(
        fmt::format("{}: the kernels do not serve this shape; set execution.kernels: reference", operation),
        ErrorKind::kRuntime);
  }
  throw Error(fmt::format("{}: CUDA error {}: {}", operation, answer, gpu_->library->error_text(answer)),
              ErrorKind::kRuntime);
}

bool needs_gradient(std::initializer_list<at::Tensor> inputs) {
  return c10::GradMode::is_enabled() &&
         std::any_of(inputs.begin(), inputs.end(),
                     [](const at::Tensor& input) { return input.defined() && input.requires_grad(); });
}

void check_operand(std::string_view name, const at::Tensor& x, at::IntArrayRef shape,
                   const at::Tensor& like) {
  check_operand(name, x, shape, like.scalar_type(), like.device());
}

void check_operand(std::string_view name, const at::Tensor& x, at::IntArrayRef shape, at::ScalarType type,
                   at::Device device) {
  if (x.sizes() == shape && x.scalar_type() == type && x.device() == device) return;
  const auto text = [](at::IntArrayRef of, at::ScalarType what, at::Device where) {
    return fmt::format("{} ({}) on {}", c10::toString(what), fmt::join(of, ", "), where.str());
  };
  throw Error(fmt::format("{}: expected {}, got {}", name, text(shape, type, device),
                          text(x.sizes(), x.scalar_type(), x.device())),
              ErrorKind::kRuntime);
}

ExampleView<const float> examples_of(const at::Tensor& values) {
  return {values.const_data_ptr<float>(), values.stride(0), values.stride(1)};
}

ExampleView<float> mutable_examples_of(const at::Tensor& values) {
  return {values.mutable_data_ptr<float>(), values.stride(0), values.stride(1)};
}

}  // namespace che
