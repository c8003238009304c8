#include "models/kernels/dispatch.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "models/kernels/cpu/kernel_table.h"
#include "models/kernels/cuda_host/cuda_kernels.h"

namespace che {
namespace {

// The table of each kind of device that has fused operations.
const KernelTable* table_of(at::DeviceType device) {
  return device == at::kCPU ? &cpu_kernels() : cuda_kernels(device);
}

}  // namespace

Kernels kernels_named(std::string_view name) {
  if (name == "fused") return Kernels::kFused;
  if (name == "reference") return Kernels::kReference;
  throw Error(fmt::format("execution.kernels: got '{}'; allowed: fused, reference", name));
}

const KernelTable* fused_kernels(const Backend& backend, const at::Tensor& x) {
  if (backend.kernels != Kernels::kFused || x.scalar_type() != at::kFloat) return nullptr;
  return table_of(x.device().type());
}

const KernelTable* fused_kernels(const Backend& backend) {
  if (backend.kernels != Kernels::kFused || backend.options.dtype() != at::kFloat) return nullptr;
  return table_of(backend.device().type());
}

const KernelTable& device_kernels(const at::Tensor& x) {
  const KernelTable* const table = table_of(x.device().type());
  if (table == nullptr) {
    throw Error(fmt::format("no fused operations for device {}", x.device().str()), ErrorKind::kRuntime);
  }
  return *table;
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
