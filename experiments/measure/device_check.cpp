#include "experiments/measure/device_check.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/clock.h"
#include "core/files.h"
#include "core/version.h"
#include "experiments/learn/limits.h"
#include "experiments/measure/small_model.h"
#include "experiments/statistics/score_summary.h"

namespace che {
namespace {

using Tensors = std::vector<at::Tensor>;

// The cost of an operation or a training step on the device.
struct SelftestTime {
  std::string name;
  std::int64_t replicas = 1;
  double milliseconds = 0;  // Median.
  // Nominal operations and bytes of memory traffic of an operation, which bound its time from below. 0 for a
  // training step.
  double operations = 0;
  double bytes = 0;
  double peak_bytes = 0;     // The most memory of the device that tensors took.
  std::string problem = {};  // Why it was not measured; empty otherwise.
};

using TimeSink = std::function<void(const SelftestTime&)>;

Backend on_the_cpu() { return {Kernels::kFused, at::TensorOptions().dtype(at::kFloat).device(at::kCPU)}; }

// The largest difference between two tensors, as a share of the largest expected value or of `least`. NaN if
// one of `actual` is.
double largest_error(const at::Tensor& expected, const at::Tensor& actual, double least) {
  const at::Tensor want = expected.detach().to(at::kCPU, at::kDouble);
  const at::Tensor got = actual.detach().to(at::kCPU, at::kDouble);
  if (want.numel() == 0) return 0;
  return (want - got).abs().max().item<double>() / std::max(least, want.abs().max().item<double>());
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
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = largest_error(expected[i], actual[i], kLeastShare * largest_value);
    if (std::isnan(error)) return error;
    largest = std::max(largest, error);
  }
  return largest;
}

// Checks the error that `compare` returns.
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

// Seconds of a call of `work`. A round of calls ends when the last result is there.
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

using Json = nlohmann::ordered_json;

Json to_json(const CudaDevice& device) {
  return {{"name", device.name},
          {"compute_capability", device.compute_capability / 10.0},
          {"multiprocessors", device.multiprocessors},
          {"driver_version", device.driver_version},
          {"runtime_version", device.runtime_version},
          {"memory_bytes", device.memory_bytes},
          {"shared_bytes", device.shared_bytes},
          {"memory_rate", device.memory_rate},
          {"multiply_add_rate", device.multiply_add_rate}};
}

Json to_json(const SelftestCheck& check) {
  return {{"name", check.name},
          {"passed", check.passed()},
          {"error", check.error},
          {"bound", check.bound},
          {"problem", check.problem}};
}

// The least possible time, by memory traffic or by operations without tensor cores, as a share of the
// measured one. 0 if the device's rates are unknown.
double share_of_roofline(const SelftestTime& time, const CudaDevice& device) {
  if (time.milliseconds == 0 || device.memory_rate == 0 || device.multiply_add_rate == 0) return 0;
  const double seconds =
      std::max(time.operations / device.multiply_add_rate, time.bytes / device.memory_rate);
  return 1e3 * seconds / time.milliseconds;
}

// Times the operations at the size of the paper's models.
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

// Times training steps of the paper's models with alibi and dape_kerple, without CUDA graphs and with them.
void time_steps(const Backend& device, const SelftestPlan& plan, const TimeSink& sink) {
  RunConfig config;
  config.task.reset("parity_check");  // It has one output, so a sequence has one token more than symbols.
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

}  // namespace

void check_operations(const Backend& device, const SelftestPlan& plan, const CheckSink& sink) {
  constexpr double kFp32Bound = 2e-4;
  constexpr double kTf32Bound = 2e-2;
  const auto check = [&](const OperationCase& operation, const std::string& name) {
    const Tensors expected = results_on(operation, on_the_cpu());
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
  const Precision products(device, precision);
  return checked(fmt::format("training step, {}, {}", encoding.name, is_single ? "fp32" : "tf32"),
                 is_single ? 1e-3 : 0.2, [&] {
                   const Backend host{device.kernels, on_the_cpu().options};
                   SmallModel on_cpu(encoding, host);
                   SmallModel on_device(encoding, device);
                   double largest = 0;
                   for (std::int64_t step = 0; step < 2; ++step) {
                     // Gradients are compared at equal parameters: where one is zero but for rounding, Adam
                     // makes a whole step of it.
                     on_device.take_values(on_cpu);
                     const at::Tensor expected = on_cpu.train(step);
                     const at::Tensor actual = on_device.train(step);
                     double error =
                         largest_error(on_cpu.parameter_gradients(), on_device.parameter_gradients());
                     // Loss, accuracy and gradient norm, each by its own size.
                     for (std::int64_t i = 0; i < expected.size(0); ++i) {
                       error = std::max(error, largest_error(expected[i], actual[i], 1.0));
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
  const Precision products(device, precision);
  const std::string name = fmt::format("{} steps {}, {}, {}", steps, has_graphs ? "with graphs" : "twice",
                                       encoding.name, precision == GpuPrecision::kFp32 ? "fp32" : "tf32");
  return checked(name, 0, [&] {
    const auto trained = [&](bool replays) {
      SmallModel model(encoding, device);
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

std::int64_t report_selftest(const Backend& backend, const SelftestPlan& plan, const std::string& json) {
  const CudaDevice& device = backend.gpu->description;
  fmt::print(
      "{}: compute capability {:.1f}, {} multiprocessors, {:.1f} GiB, driver for CUDA {:.1f}; che {} ({}), "
      "LibTorch {}\n\n",
      device.name, device.compute_capability / 10.0, device.multiprocessors,
      static_cast<double>(device.memory_bytes) / 0x1p30, device.driver_version / 1000.0, program_version(),
      git_commit(), TORCH_VERSION);
  Json checks = Json::array();
  std::int64_t passed = 0;
  check_device(backend, plan, [&](const SelftestCheck& check) {
    checks.push_back(to_json(check));
    passed += check.passed() ? 1 : 0;
    fmt::print("{} {}: {}\n", check.passed() ? "passed" : "FAILED", check.name,
               check.problem.empty() ? fmt::format("error {:.1e}, allowed {:.1e}", check.error, check.bound)
                                     : check.problem);
    std::fflush(stdout);
  });
  Json times = Json::array();
  const auto show = [&](const SelftestTime& time) {
    const double share = share_of_roofline(time, device);
    times.push_back(Json{{"name", time.name},
                         {"replicas", time.replicas},
                         {"milliseconds", time.milliseconds},
                         {"share_of_roofline", share},
                         {"peak_mib", time.peak_bytes / 0x1p20},
                         {"problem", time.problem}});
    const std::string of_roofline = share > 0 ? fmt::format(", {:.0f} % of the roofline", 100 * share) : "";
    fmt::print(
        "{}, replicas {}: {}\n", time.name, time.replicas,
        time.problem.empty() ? fmt::format("{:.3f} ms{}", time.milliseconds, of_roofline) : time.problem);
    std::fflush(stdout);
  };
  const auto write = [&] {
    if (json.empty()) return;
    const Json report{{"version", program_version()},
                      {"commit", git_commit()},
                      {"torch_version", TORCH_VERSION},
                      {"device", to_json(device)},
                      {"passed", passed},
                      {"failed", static_cast<std::int64_t>(checks.size()) - passed},
                      {"checks", checks},
                      {"times", times}};
    write_output(json, report.dump(1) + "\n");
  };
  if (plan.has_times) {
    write();
    time_operations(backend, plan, show);
    time_steps(backend, plan, show);
  }
  write();
  const auto failed = static_cast<std::int64_t>(checks.size()) - passed;
  fmt::print("\n{} passed, {} failed\n", passed, failed);
  return failed;
}

}  // namespace che
