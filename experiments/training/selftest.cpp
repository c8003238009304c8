#include "experiments/training/selftest.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "core/clock.h"
#include "experiments/statistics/score_summary.h"
#include "experiments/training/out_of_memory.h"
#include "experiments/training/small_model.h"
#include "models/device_memory.h"
#include "models/ops/cases.h"
#include "models/ops/device/backend.h"

namespace che {
namespace {

using Tensors = std::vector<at::Tensor>;

Backend cpu() { return {Kernels::kFused, at::TensorOptions().dtype(at::kFloat).device(at::kCPU)}; }

// The largest difference between two tensors, of the largest expected value or of `least`; no number where
// one of `found` is none.
double largest_error(const at::Tensor& expected, const at::Tensor& found, double least) {
  const at::Tensor want = expected.detach().to(at::kCPU, at::kDouble);
  const at::Tensor got = found.detach().to(at::kCPU, at::kDouble);
  if (want.numel() == 0) return 0;
  return (want - got).abs().max().item<double>() / std::max(least, want.abs().max().item<double>());
}

// The largest error of several tensors, each of its own largest value. Values that only rounding keeps from
// 0, such as the gradient of a bias that a softmax takes away, count as a hundredth of the largest of all.
double largest_error(const Tensors& expected, const Tensors& found) {
  constexpr double kLeastShare = 1e-2;
  double largest_value = 0;
  for (const at::Tensor& one : expected) {
    if (one.numel() > 0) largest_value = std::max(largest_value, one.detach().abs().max().item<double>());
  }
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = largest_error(expected[i], found[i], kLeastShare * largest_value);
    if (std::isnan(error)) return error;
    largest = std::max(largest, error);
  }
  return largest;
}

// A check of what `compare` returns, an error.
SelftestCheck checked(std::string name, double bound, const std::function<double()>& compare) {
  SelftestCheck check{.name = std::move(name), .error = 0, .bound = bound, .problem = {}};
  try {
    check.error = compare();
    if (std::isnan(check.error)) check.problem = "a result is not a number";
  } catch (const std::exception& error) {
    check.problem = failure_text(error);
  }
  return check;
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

at::Tensor result_on(const OperationCase& operation, const Backend& backend) {
  const c10::NoGradGuard no_grad;
  return operation.apply(inputs_on(operation, backend), backend);
}

// Its result and the gradients of a fixed function of the result.
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

// Sets the precision of products on a GPU while it exists.
class Precision {
 public:
  Precision(const Backend& device, GpuPrecision precision) : gpu_(*device.gpu) {
    gpu_.set_precision(precision);
  }
  ~Precision() { gpu_.set_precision(GpuPrecision::kFp32); }
  Precision(const Precision&) = delete;
  Precision& operator=(const Precision&) = delete;

 private:
  Gpu& gpu_;
};

// Seconds of one of the calls of `work`, whose last result is waited for.
double median_seconds(const SelftestPlan& plan, const std::function<at::Tensor()>& work) {
  std::vector<double> seconds;
  for (std::int64_t round = 0; round <= plan.timed_rounds; ++round) {
    at::Tensor last;
    const Clock::time_point start = Clock::now();
    for (std::int64_t call = 0; call < plan.timed_calls; ++call) last = work();
    wait_for(last);
    // The first round warms up.
    if (round > 0) seconds.push_back(seconds_since(start) / static_cast<double>(plan.timed_calls));
  }
  return aggregate_of(seconds, Aggregate::kMedian);
}

}  // namespace

void check_operations(const Backend& device, const SelftestPlan& plan, const CheckSink& sink) {
  constexpr double kFp32Bound = 2e-4;
  constexpr double kTf32Bound = 2e-2;
  const auto check = [&](const OperationCase& operation, const std::string& name) {
    const Tensors expected = results_on(operation, cpu());
    sink(checked(name + ", fp32", kFp32Bound,
                 [&] { return largest_error(expected, results_on(operation, device)); }));
    if (!operation.has_tf32) return;
    const Precision tf32(device, GpuPrecision::kTf32);
    sink(checked(name + ", tf32", kTf32Bound,
                 [&] { return largest_error({expected.front()}, {result_on(operation, device)}); }));
  };
  for (const std::int64_t tokens : plan.tokens) {
    for (const OperationCase& operation : sequence_cases(plan.sizes, tokens, plan.batch)) {
      check(operation, fmt::format("{}, {} tokens", operation.name, tokens));
    }
  }
  const OperationCase update = adam_case(plan.sizes.heads * plan.sizes.head_width * plan.sizes.hidden);
  check(update, update.name);
}

SelftestCheck check_encoding(const NamedEncoding& encoding, const Backend& device, GpuPrecision precision) {
  const bool is_single = precision == GpuPrecision::kFp32;
  const Precision of_products(device, precision);
  return checked(fmt::format("training step, {}, {}", encoding.name, is_single ? "fp32" : "tf32"),
                 is_single ? 1e-3 : 0.2, [&] {
                   const Backend host{device.kernels, cpu().options};
                   SmallModel on_cpu(encoding.config, host);
                   SmallModel on_device(encoding.config, device);
                   double largest = 0;
                   for (std::int64_t step = 0; step < 2; ++step) {
                     // Gradients are compared at equal parameters: where one is zero but for rounding, Adam
                     // makes a whole step of it.
                     on_device.take_values(on_cpu);
                     const at::Tensor expected = on_cpu.train(step);
                     const at::Tensor found = on_device.train(step);
                     double error =
                         largest_error(on_cpu.parameter_gradients(), on_device.parameter_gradients());
                     // Loss, accuracy and gradient norm, each by its own size.
                     for (std::int64_t i = 0; i < expected.size(0); ++i) {
                       error = std::max(error, largest_error(expected[i], found[i], 1.0));
                     }
                     if (std::isnan(error)) return error;
                     largest = std::max(largest, error);
                   }
                   on_device.take_values(on_cpu);
                   return std::max(largest, largest_error({on_cpu.logits()}, {on_device.logits()}));
                 });
}

SelftestCheck check_repeats(const NamedEncoding& encoding, const Backend& device, std::int64_t steps,
                            GpuPrecision precision, bool has_graphs) {
  const Precision of_products(device, precision);
  const std::string name = fmt::format("{} steps {}, {}, {}", steps, has_graphs ? "with graphs" : "twice",
                                       encoding.name, precision == GpuPrecision::kFp32 ? "fp32" : "tf32");
  return checked(name, 0, [&] {
    const auto trained = [&](bool replays) {
      SmallModel model(encoding.config, device);
      if (replays) model.use_graphs();
      for (std::int64_t step = 0; step < steps; ++step) model.train(step);
      return model.values().detach().to(at::kCPU);
    };
    return largest_error({trained(false)}, {trained(has_graphs)});
  });
}

void check_device(const Backend& device, const SelftestPlan& plan, const CheckSink& sink) {
  check_operations(device, plan, sink);
  for (const GpuPrecision precision : {GpuPrecision::kFp32, GpuPrecision::kTf32}) {
    for (const NamedEncoding& encoding : every_encoding()) sink(check_encoding(encoding, device, precision));
    for (const NamedEncoding& encoding : every_encoding()) {
      sink(check_repeats(encoding, device, plan.repeated_steps, precision, false));
      sink(check_repeats(encoding, device, plan.graph_steps, precision, true));
    }
  }
}

void time_operations(const Backend& device, const SelftestPlan& plan, const TimeSink& sink) {
  const auto time = [&](const OperationCase& operation, const std::string& name) {
    SelftestTime measured{.name = name, .operations = operation.operations, .bytes = operation.bytes};
    try {
      const c10::NoGradGuard no_grad;
      const Tensors inputs = inputs_on(operation, device);
      reset_peak_device_bytes(device.device());
      measured.milliseconds = 1e3 * median_seconds(plan, [&] { return operation.apply(inputs, device); });
      measured.peak_bytes = peak_device_bytes(device.device());
    } catch (const std::exception& error) {
      measured.problem = failure_text(error);
    }
    sink(measured);
  };
  for (const std::int64_t tokens : plan.timed_tokens) {
    for (const OperationCase& operation : sequence_cases(plan.sizes, tokens, plan.timed_batch)) {
      time(operation, fmt::format("{}, {} tokens", operation.name, tokens));
    }
  }
  constexpr std::int64_t kPapersParameters = 3'900'000;
  const OperationCase update = adam_case(kPapersParameters);
  time(update, update.name);
}

void time_steps(const Backend& device, const SelftestPlan& plan, const TimeSink& sink) {
  RunConfig config;
  config.task.reset("parity_check");  // One output: a sequence has one token more than symbols.
  config.training.batch_size = plan.timed_batch;
  for (const char* encoding : {"alibi", "dape_kerple"}) {
    config.encoding.reset(encoding);
    for (const std::int64_t tokens : plan.timed_tokens) {
      for (const std::int64_t replicas : plan.timed_replicas) {
        for (const std::string graphs : {"", " with graphs"}) {
          config.execution.replicas = replicas;
          config.execution.graphs = !graphs.empty();
          SelftestTime measured{
              .name = fmt::format("training step{}, {}, {} tokens", graphs, encoding, tokens),
              .replicas = replicas};
          try {
            const StepCost cost = measure_step(config, tokens - 1, plan.steps, device);
            measured.milliseconds = 1e3 * cost.seconds;
            measured.peak_bytes = cost.peak_bytes;
          } catch (const std::exception& error) {
            measured.problem = failure_text(error);
          }
          sink(measured);
        }
      }
    }
  }
}

}  // namespace che
