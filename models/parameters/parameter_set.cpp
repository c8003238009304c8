#include "models/parameters/parameter_set.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/core.h>

#include <cmath>

#include "core/error.h"
#include "core/random.h"

namespace che {
namespace {

std::int64_t element_count(const ParameterSpec& spec) {
  std::int64_t count = 1;
  for (const std::int64_t extent : spec.shape) count *= extent;
  return count;
}

// Replicas begin at multiples of 256 bytes on a GPU, so that products of their weights read aligned memory.
std::int64_t replica_stride(std::int64_t size, const at::Device& device) {
  constexpr std::int64_t kAligned = 64;
  return device.is_cpu() ? size : (size + kAligned - 1) / kAligned * kAligned;
}

double draw(const Init& init, RandomStream& random) {
  switch (init.kind) {
    case Init::Kind::kConstant:
      return init.scale;
    case Init::Kind::kNormal:
      return init.scale * random.normal();
    case Init::Kind::kTruncatedNormal: {
      double value = random.normal();
      while (std::abs(value) > 2) value = random.normal();
      return init.scale * value;
    }
    case Init::Kind::kUniform:
      return init.low + (init.high - init.low) * random.uniform();
  }
  throw Error("unknown parameter distribution", ErrorKind::kRuntime);
}

}  // namespace

std::int64_t parameter_count(const std::vector<ParameterSpec>& specs) {
  std::int64_t count = 0;
  for (const ParameterSpec& spec : specs) count += element_count(spec);
  return count;
}

const at::Tensor& ParameterView::operator[](std::string_view name) const {
  return (*set_)[prefix_ + std::string(name)];
}

ParameterSet::ParameterSet(std::vector<ParameterSpec> specs, std::int64_t replicas,
                           const at::TensorOptions& options)
    : specs_(std::move(specs)),
      values_(at::zeros({replicas, replica_stride(parameter_count(specs_), options.device())}, options)
                  .narrow(1, 0, parameter_count(specs_))),
      gradients_(at::zeros(values_.sizes(), options)) {
  std::int64_t offset = 0;
  for (const ParameterSpec& spec : specs_) {
    std::vector<std::int64_t> shape{replicas};
    shape.insert(shape.end(), spec.shape.begin(), spec.shape.end());
    const std::int64_t count = element_count(spec);
    at::Tensor parameter = values_.narrow(1, offset, count).view(shape).detach();
    parameter.requires_grad_(true);
    if (!named_.emplace(spec.name, parameter).second) {
      throw Error(fmt::format("two parameters are named '{}'", spec.name), ErrorKind::kRuntime);
    }
    offset += count;
  }
}

const at::Tensor& ParameterSet::operator[](std::string_view name) const {
  const auto found = named_.find(name);
  if (found == named_.end())
    throw Error(fmt::format("no parameter is named '{}'", name), ErrorKind::kRuntime);
  return found->second;
}

void ParameterSet::collect_gradients() {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> parts;  // (replicas, values) of each parameter
  parts.reserve(specs_.size());
  for (const ParameterSpec& spec : specs_) {
    const at::Tensor& parameter = named_.find(spec.name)->second;
    const std::int64_t count = element_count(spec);
    parts.push_back(parameter.grad().defined()
                        ? parameter.grad().reshape({replicas(), count})
                        : at::zeros({1, 1}, values_.options()).expand({replicas(), count}));
    parameter.mutable_grad().reset();
  }
  // One operation, where a copy each would start as many kernels as there are parameters.
  at::cat_out(gradients_, parts, 1);
}

void ParameterSet::initialise(std::span<const std::int64_t> seeds) {
  const at::Tensor drawn = at::empty(values_.sizes(), at::TensorOptions().dtype(at::kDouble));
  auto* next = drawn.data_ptr<double>();
  for (const std::int64_t seed : seeds) {
    for (const ParameterSpec& spec : specs_) {
      RandomStream random(keyed_seed(static_cast<std::uint64_t>(seed), spec.name), Purpose::kInit);
      for (std::int64_t i = 0; i < element_count(spec); ++i) *next++ = draw(spec.init, random);
    }
  }
  values_.copy_(drawn);
}

}  // namespace che
