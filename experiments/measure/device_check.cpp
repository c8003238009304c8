#include "experiments/measure/device_check.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>

#include "experiments/learn/limits.h"
#include "experiments/measure/small_model.h"

namespace che {
namespace {

using Tensors = std::vector<at::Tensor>;

Backend on_the_cpu() { return {Kernels::kFused, at::TensorOptions().dtype(at::kFloat).device(at::kCPU)}; }

// The largest difference between two tensors, as a share of the largest expected value or of `least`. NaN if
// one of `actual` is.
double largest_error(const at::Tensor& expected, const at::Tensor& actual, double least) {
  const at::Tensor want = expected.detach().to(at::kCPU, at::kDouble);
  const at::Tensor got = actual.detach().to(at::kCPU, at::kDouble);
  if (want.numel() == 0) return 0;
  return (want - got).abs().max().item<double>() / std::max(least, want.abs().max().item<double>());
}

// NaN if one of them is.
double largest_of(const std::vector<double>& errors) {
  double largest = 0;
  for (const double error : errors) {
    if (std::isnan(error)) return error;
    largest = std::max(largest, error);
  }
  return largest;
}

// The largest error of several tensors, each as a share of its own largest value. Values that only rounding
// keeps from 0, such as the gradient of a bias that a softmax takes away, count as a hundredth of the largest
// of all.
double largest_error(const Tensors& expected, const Tensors& actual) {
  constexpr double kLeastShare = 1e-2;
  double largest_value = 0;
  for (const at::Tensor& tensor : expected) {
    if (tensor.numel() > 0)
      largest_value = std::max(largest_value, tensor.detach().abs().max().item<double>());
  }
  std::vector<double> errors;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    errors.push_back(largest_error(expected[i], actual[i], kLeastShare * largest_value));
  }
  return largest_of(errors);
}

// Checks the error that `compare` returns.
DeviceTest comparison(const std::string& name, double bound, const std::function<double()>& compare) {
  return {name, [=] {
            SelftestCheck check{.name = name, .error = 0, .bound = bound, .problem = {}};
            try {
              check.error = compare();
              if (!std::isfinite(check.error)) check.problem = "a result is not a finite number";
            } catch (const std::exception& error) {
              check.problem = failure_text(error);
            }
            return check;
          }};
}

// The result and the gradients of a fixed function of the result.
Tensors results_on(const OperationCase& operation, const Backend& backend) {
  const Tensors inputs = inputs_on(operation, backend);
  const at::Tensor out = operation.apply(inputs, backend);
  Tensors results{out};
  if (operation.is_in_place) {
    results.insert(results.end(), inputs.begin(), inputs.end());
    return results;
  }
  (out * out).sum().backward();
  for (const at::Tensor& input : inputs) {
    if (input.requires_grad()) results.push_back(input.grad());
  }
  return results;
}

}  // namespace

const char* precision_name(GpuPrecision precision) {
  return precision == GpuPrecision::kFp32 ? "fp32" : "tf32";
}

Tensors inputs_on(const OperationCase& operation, const Backend& backend) {
  Tensors inputs;
  for (const at::Tensor& input : operation.inputs) {
    inputs.push_back(input.detach().to(backend.device(), input.scalar_type(), /*non_blocking=*/false,
                                       /*copy=*/true));
    inputs.back().requires_grad_(input.requires_grad());
  }
  return inputs;
}

void check_operations(const Backend& device, const SelftestPlan& plan, const TestSink& sink) {
  constexpr double kFp32Bound = 2e-4;
  constexpr double kTf32Bound = 2e-2;
  const auto check = [&](const OperationCase& operation, const std::string& name) {
    sink(comparison(name + ", fp32", kFp32Bound, [=] {
      return largest_error(results_on(operation, on_the_cpu()), results_on(operation, device));
    }));
    if (!operation.has_tf32) return;
    sink(comparison(name + ", tf32", kTf32Bound, [=] {
      const ProductPrecision tf32(device, GpuPrecision::kTf32);
      return largest_error(results_on(operation, on_the_cpu()), results_on(operation, device));
    }));
  };
  for (const std::int64_t tokens : plan.tokens) {
    for (const OperationCase& operation : sequence_cases(plan.sizes, tokens, plan.batch)) {
      check(operation, fmt::format("{}, {} tokens", operation.name, tokens));
    }
  }
  const OperationCase update = adam_case(plan.sizes.heads * plan.sizes.head_width * plan.sizes.hidden);
  check(update, update.name);
}

DeviceTest check_encoding(const NamedEncoding& encoding, const Backend& device, GpuPrecision precision) {
  const std::string name =
      fmt::format("training step, {}, {}", encoding.name,
                  device.operands == Operands::kBf16 ? "bf16" : precision_name(precision));
  return comparison(name, precision == GpuPrecision::kFp32 ? 1e-3 : 0.2, [=] {
    const ProductPrecision products(device, precision);
    const Backend host{
        .kernels = device.kernels, .options = on_the_cpu().options, .operands = device.operands};
    SmallModel on_cpu(encoding, host);
    SmallModel on_device(encoding, device);
    std::vector<double> errors;
    std::array<double, 3> gradient_errors{};
    for (std::size_t step = 0; step < gradient_errors.size(); ++step) {
      // Gradients are compared at equal parameters: where one is zero but for rounding, Adam makes a whole
      // step of it.
      on_device.take_values(on_cpu);
      // Rows of loss, accuracy and gradient norm.
      const at::Tensor expected = on_cpu.train(static_cast<std::int64_t>(step));
      const at::Tensor actual = on_device.train(static_cast<std::int64_t>(step));
      errors.push_back(largest_error(expected.narrow(0, 0, 2), actual.narrow(0, 0, 2), 1.0));
      gradient_errors.at(step) =
          largest_of({largest_error(expected[2], actual[2], 1.0),
                      largest_error(on_cpu.parameter_gradients(), on_device.parameter_gradients())});
      if (std::isnan(gradient_errors.at(step))) return gradient_errors.at(step);
    }
    // A ReLU whose input is zero but for rounding may open on one side alone, and the gradients jump. One
    // step of the three may do so.
    std::ranges::sort(gradient_errors);
    errors.push_back(gradient_errors.at(1));
    on_device.take_values(on_cpu);
    errors.push_back(largest_error({on_cpu.logits()}, {on_device.logits()}));
    return largest_of(errors);
  });
}

DeviceTest check_repeats(const NamedEncoding& encoding, const Backend& device, std::int64_t steps,
                         GpuPrecision precision, bool has_graphs) {
  const std::string name = fmt::format("{} steps {}, {}, {}", steps, has_graphs ? "with graphs" : "twice",
                                       encoding.name, precision_name(precision));
  return comparison(name, 0, [=] {
    const ProductPrecision products(device, precision);
    const auto trained = [&](bool replays) {
      SmallModel model(encoding, device);
      if (replays) model.use_graphs();
      for (std::int64_t step = 0; step < steps; ++step) model.train(step);
      return model.values().detach().to(at::kCPU);
    };
    return largest_error({trained(false)}, {trained(has_graphs)});
  });
}

void check_device(const Backend& device, const SelftestPlan& plan, const TestSink& sink) {
  check_operations(device, plan, sink);
  for (const GpuPrecision precision : {GpuPrecision::kFp32, GpuPrecision::kTf32}) {
    for (const NamedEncoding& encoding : every_encoding()) sink(check_encoding(encoding, device, precision));
    for (const NamedEncoding& encoding : every_encoding()) {
      if (precision == GpuPrecision::kFp32) {
        sink(check_repeats(encoding, device, plan.repeated_steps, precision, false));
      }
      sink(check_repeats(encoding, device, plan.graph_steps, precision, true));
    }
  }
  Backend rounding = device;
  rounding.operands = Operands::kBf16;
  for (const NamedEncoding& encoding : every_encoding()) {
    sink(check_encoding(encoding, rounding, GpuPrecision::kTf32));
  }
}

}  // namespace che
