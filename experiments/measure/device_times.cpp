#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

#include "core/clock.h"
#include "experiments/learn/limits.h"
#include "experiments/measure/device_check.h"
#include "experiments/statistics/score_summary.h"

namespace che {
namespace {

constexpr std::array kPrecisions{GpuPrecision::kFp32, GpuPrecision::kTf32};

// A measurement by `measure`, which fills in what the name does not say.
DeviceTest timing(const std::string& name, std::int64_t replicas,
                  const std::function<void(SelftestTime&)>& measure) {
  return {name, [=] {
            SelftestTime time{.name = name, .replicas = replicas};
            try {
              measure(time);
            } catch (const std::exception& error) {
              time.problem = failure_text(error);
            }
            return time;
          }};
}

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

// By memory traffic or by operations without tensor cores. 0 if the device's rates are unknown.
double share_of_roofline(const OperationCase& operation, double milliseconds, const CudaDevice& device) {
  if (milliseconds == 0 || device.memory_rate == 0 || device.multiply_add_rate == 0) return 0;
  const double seconds =
      std::max(operation.operations / device.multiply_add_rate, operation.bytes / device.memory_rate);
  return 1e3 * seconds / milliseconds;
}

DeviceTest forward_time(const OperationCase& operation, const std::string& name, const Backend& device,
                        const SelftestPlan& plan, GpuPrecision precision) {
  return timing(name + ", forward, " + precision_name(precision), 1, [=](SelftestTime& time) {
    const c10::NoGradGuard no_grad;
    const ProductPrecision products(device, precision);
    const std::vector<at::Tensor> inputs = inputs_on(operation, device);
    reset_peak_device_bytes(device.device());
    time.milliseconds = 1e3 * median_seconds(plan, [&] { return operation.apply(inputs, device); });
    time.peak_bytes = peak_device_bytes(device.device());
    if (precision == GpuPrecision::kFp32) {
      time.share_of_roofline = share_of_roofline(operation, time.milliseconds, device.gpu->description);
    }
  });
}

DeviceTest backward_time(const OperationCase& operation, const std::string& name, const Backend& device,
                         const SelftestPlan& plan, GpuPrecision precision) {
  return timing(name + ", forward and backward, " + precision_name(precision), 1, [=](SelftestTime& time) {
    const ProductPrecision products(device, precision);
    std::vector<at::Tensor> inputs = inputs_on(operation, device);
    at::Tensor of_result;  // The gradient that the backward pass begins with.
    reset_peak_device_bytes(device.device());
    time.milliseconds = 1e3 * median_seconds(plan, [&] {
                          const at::Tensor out = operation.apply(inputs, device);
                          if (!of_result.defined()) of_result = at::ones_like(out);
                          out.backward(of_result);
                          at::Tensor last;
                          for (at::Tensor& input : inputs) {
                            if (!input.requires_grad()) continue;
                            last = input.grad();
                            input.mutable_grad().reset();
                          }
                          return last;
                        });
    time.peak_bytes = peak_device_bytes(device.device());
  });
}

// Times operations at the size of the paper's models.
void time_operations(const Backend& device, const SelftestPlan& plan, const TestSink& sink) {
  const auto time = [&](const OperationCase& operation, const std::string& name) {
    for (const GpuPrecision precision : kPrecisions) {
      if (precision == GpuPrecision::kTf32 && !operation.has_tf32) continue;
      sink(forward_time(operation, name, device, plan, precision));
      if (!operation.is_in_place) sink(backward_time(operation, name, device, plan, precision));
    }
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

void time_steps(const Backend& device, const SelftestPlan& plan, const TestSink& sink) {
  RunConfig config;
  config.task.reset("parity_check");  // It has one output, so a sequence has one token more than symbols.
  config.training.batch_size = plan.timed_batch;
  const auto time = [&](const char* encoding, std::int64_t tokens, GpuPrecision precision) {
    const std::string name =
        fmt::format("training step{}, {}, {} tokens, {}", config.execution.graphs ? " with graphs" : "",
                    encoding, tokens, precision_name(precision));
    sink(timing(name, config.execution.replicas, [=](SelftestTime& measured) {
      const ProductPrecision products(device, precision);
      const StepCost cost = measure_step(config, tokens - 1, plan.steps, device);
      measured.milliseconds = 1e3 * cost.seconds;
      measured.peak_bytes = cost.peak_bytes;
    }));
  };
  for (const char* encoding : {"alibi", "dape_kerple"}) {
    config.encoding.reset(encoding);
    for (const std::int64_t tokens : plan.timed_tokens) {
      for (const std::int64_t replicas : plan.timed_replicas) {
        config.execution.replicas = replicas;
        for (const bool graphs : {false, true}) {
          config.execution.graphs = graphs;
          for (const GpuPrecision precision : kPrecisions) time(encoding, tokens, precision);
        }
      }
    }
  }
}

}  // namespace

void time_device(const Backend& device, const SelftestPlan& plan, const TestSink& sink) {
  time_operations(device, plan, sink);
  time_steps(device, plan, sink);
}

}  // namespace che
