#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "experiments/measure/step_benchmark.h"
#include "experiments/plan/encoding_config.h"
#include "models/ops/cases.h"
#include "models/ops/device/backend.h"

namespace che {

// One comparison of a device with the CPU, or of a device with itself.
struct SelftestCheck {
  std::string name;
  double error = 0;  // The largest difference, as a share of the largest expected value of its tensor.
  double bound = 0;  // The largest error that passes.
  std::string problem = {};  // Why there is no error to tell; empty if there is one.

  bool passed() const { return problem.empty() && error <= bound; }
};

// The cost of an operation or a training step on a device.
struct SelftestTime {
  std::string name;
  std::int64_t replicas = 1;
  double milliseconds = 0;  // Median.
  // The least possible time, by nominal operations or bytes of memory traffic, as a share of the measured
  // one. 0 if unknown.
  double share_of_roofline = 0;
  double peak_bytes = 0;     // The most memory of the device that tensors took.
  std::string problem = {};  // Why it was not measured; empty otherwise.
};

// A comparison or a measurement that is still to be made. run() does not throw.
struct DeviceTest {
  std::string name;
  std::function<std::variant<SelftestCheck, SelftestTime>()> run;
};
using TestSink = std::function<void(const DeviceTest&)>;

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
  std::string only;                // Tests whose names contain it; all if empty.
  std::int64_t timed_batch = 128;  // Batch of operations and of steps.
  std::int64_t timed_calls = 20;   // Calls of an operation that are waited for together.
  std::int64_t timed_rounds = 9;   // Rounds of such calls.
  BenchmarkPlan steps = {};        // The training steps that are timed.
};

// Compares every fused operation of `device` with the CPU's, forward and backward, at every number of tokens.
// Operations that know TF32 are compared in TF32, too.
void check_operations(const Backend& device, const SelftestPlan& plan, const TestSink& sink);

// Compares a training step and an evaluation of a small model with the CPU's in single precision: loss,
// gradient norms, the gradient of each parameter, and logits.
DeviceTest check_encoding(const NamedEncoding& encoding, const Backend& device, GpuPrecision precision);

// Trains a small model twice, the second time with CUDA graphs if `has_graphs`, and expects equal bits.
DeviceTest check_repeats(const NamedEncoding& encoding, const Backend& device, std::int64_t steps,
                         GpuPrecision precision, bool has_graphs);

// Makes all these comparisons, for every encoding and in both precisions.
void check_device(const Backend& device, const SelftestPlan& plan, const TestSink& sink);

// Times operations, forward and with their backward pass, and training steps of the paper's models with alibi
// and dape_kerple, with CUDA graphs and without, all in both precisions.
void time_device(const Backend& device, const SelftestPlan& plan, const TestSink& sink);

// Sets the precision of products on a GPU while it exists.
class ProductPrecision {
 public:
  ProductPrecision(const Backend& device, GpuPrecision precision) : gpu_(*device.gpu) {
    gpu_.set_precision(precision);
  }
  ~ProductPrecision() { gpu_.set_precision(GpuPrecision::kFp32); }
  ProductPrecision(const ProductPrecision&) = delete;
  ProductPrecision& operator=(const ProductPrecision&) = delete;

 private:
  Gpu& gpu_;
};
const char* precision_name(GpuPrecision precision);  // fp32, tf32

// The inputs of an operation as new tensors of the backend's device.
std::vector<at::Tensor> inputs_on(const OperationCase& operation, const Backend& backend);

}  // namespace che
