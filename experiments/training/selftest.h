#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/plan/encoding_config.h"
#include "experiments/training/step_benchmark.h"
#include "models/ops/cases.h"
#include "models/ops/device/backend.h"
#include "models/ops/device/kernel_table.h"

namespace che {

// One comparison of a device with the CPU, or of a device with itself.
struct SelftestCheck {
  std::string name;
  double error = 0;     // The largest difference, of the largest expected value of its tensor.
  double bound = 0;     // What it may be.
  std::string problem;  // Why there is no difference to tell; empty where there is one.

  bool passed() const { return problem.empty() && error <= bound; }
};

// What an operation or a training step takes on the device.
struct SelftestTime {
  std::string name;
  std::int64_t replicas = 1;
  double milliseconds = 0;  // Median.
  // Of an operation: nominal operations and bytes of memory traffic, which give the time that it cannot be
  // below. 0 for a training step.
  double operations = 0;
  double bytes = 0;
  double peak_bytes = 0;     // The most memory of the device that tensors took meanwhile.
  std::string problem = {};  // Why it was not measured; empty otherwise.
};

// How much to do.
struct SelftestPlan {
  std::vector<std::int64_t> tokens = {1, 2, 17, 41, 80, 120, 500};  // Of the operations that are compared.
  std::int64_t batch = 8;
  CaseSizes sizes = {};
  std::int64_t repeated_steps = 100;
  std::int64_t graph_steps = 10;  // Two before the first that is replayed only.
  std::vector<std::int64_t> timed_tokens = {41, 80, 120};
  std::vector<std::int64_t> timed_replicas = {1, 9, 30};
  std::int64_t timed_batch = 128;  // Of operations and of steps.
  std::int64_t timed_calls = 20;   // Of an operation, which are waited for together,
  std::int64_t timed_rounds = 9;   // so often.
  BenchmarkPlan steps = {};        // Of the training steps that are timed.
};

using CheckSink = std::function<void(const SelftestCheck&)>;
using TimeSink = std::function<void(const SelftestTime&)>;

// Every fused operation of `device`, forward and backward, at every number of tokens, against the CPU's; what
// knows TF32, forward in TF32 too.
void check_operations(const Backend& device, const SelftestPlan& plan, const CheckSink& sink);

// A training step and an evaluation of a small model with that encoding, against the CPU in single precision:
// loss, gradient norms, the gradient of each parameter, and logits.
SelftestCheck check_encoding(const NamedEncoding& encoding, const Backend& device, GpuPrecision precision);

// Trains a small model with that encoding twice, the second time with CUDA graphs if `has_graphs`: equal
// bits.
SelftestCheck check_repeats(const NamedEncoding& encoding, const Backend& device, std::int64_t steps,
                            GpuPrecision precision, bool has_graphs);

// Everything above, for every encoding and in both precisions.
void check_device(const Backend& device, const SelftestPlan& plan, const CheckSink& sink);

// Times of the operations at the size of the paper's models.
void time_operations(const Backend& device, const SelftestPlan& plan, const TimeSink& sink);

// Times of training steps of the paper's models with alibi and dape_kerple, without CUDA graphs and with
// them.
void time_steps(const Backend& device, const SelftestPlan& plan, const TimeSink& sink);

}  // namespace che
