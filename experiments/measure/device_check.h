#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/measure/step_benchmark.h"
#include "experiments/plan/encoding_config.h"
#include "models/ops/cases.h"
#include "models/ops/device/backend.h"

namespace che {

// One comparison of a device with the CPU, or of a device with itself.
struct SelftestCheck {
  std::string name;
  double error = 0;     // The largest difference, as a share of the largest expected value of its tensor.
  double bound = 0;     // The largest error that passes.
  std::string problem;  // Why there is no error to tell; empty if there is one.

  bool passed() const { return problem.empty() && error <= bound; }
};

// How much to do.
struct SelftestPlan {
  bool has_times = true;  // Whether the device is timed, too.
  // The operations that are compared have these sizes, numbers of tokens and batch.
  CaseSizes sizes = {};
  std::vector<std::int64_t> tokens = {1, 2, 17, 41, 80, 120, 500};
  std::int64_t batch = 8;
  std::int64_t repeated_steps = 100;
  std::int64_t graph_steps = 10;  // The first two of a shape are not only replayed.
  std::vector<std::int64_t> timed_tokens = {41, 80, 120};
  std::vector<std::int64_t> timed_replicas = {1, 9, 30};
  std::int64_t timed_batch = 128;  // Batch of operations and of steps.
  std::int64_t timed_calls = 20;   // Calls of an operation that are waited for together.
  std::int64_t timed_rounds = 9;   // Rounds of such calls.
  BenchmarkPlan steps = {};        // The training steps that are timed.
};

using CheckSink = std::function<void(const SelftestCheck&)>;

// Compares every fused operation of `device` with the CPU's, forward and backward, at every number of tokens.
// Operations that know TF32 are compared forward in TF32 too.
void check_operations(const Backend& device, const SelftestPlan& plan, const CheckSink& sink);

// Compares a training step and an evaluation of a small model with the CPU's in single precision: loss,
// gradient norms, the gradient of each parameter, and logits.
SelftestCheck check_encoding(const NamedEncoding& encoding, const Backend& device, GpuPrecision precision);

// Trains a small model twice, the second time with CUDA graphs if `has_graphs`, and expects equal bits.
SelftestCheck check_repeats(const NamedEncoding& encoding, const Backend& device, std::int64_t steps,
                            GpuPrecision precision, bool has_graphs);

// Makes all these comparisons, for every encoding and in both precisions.
void check_device(const Backend& device, const SelftestPlan& plan, const CheckSink& sink);

// Compares and times the device, prints each result and their count, and writes everything to the file
// `json`, unless that is empty. Returns how many comparisons failed. Throws Error if the file cannot be
// written.
std::int64_t report_selftest(const Backend& backend, const SelftestPlan& plan, const std::string& json);

}  // namespace che
