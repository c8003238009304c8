#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"
#include "models/ops/device/backend.h"

namespace che {

// What one training step, or one evaluated batch, costs on this machine: of execution.replicas runs that
// train in lock-step.
struct StepCost {
  std::int64_t tokens;  // Of an example, empty symbols included.
  double seconds;       // Median.
  double fastest;       // Seconds of the fastest step,
  double slowest;       // and of the slowest.
  // Medians of where they went: "data", "attention", "linear", "norm", "optimiser" and, for the rest,
  // "other". On a GPU they say nothing: its work goes on
  // while the host has started more. They are the fused operations'; with
  // reference kernels, products of attention count as "linear" and what their gradients take otherwise as
  // "other".
  std::map<std::string, double> parts;
  double samples_per_second;
  double operations;   // Nominal: training_step_operations(), or a third of that an example.
  double matrix_rate;  // Operations a second of a (batch * tokens, d) by (d, 4 d) product, same threads.
  double share;        // Of that rate.
  // The most memory meanwhile: the process' resident set, or on a GPU its tensors. Those of the matrix
  // product count.
  double peak_bytes;
};

struct BenchmarkPlan {
  bool evaluate = false;           // A batch of kEvaluationBatch examples without gradients.
  std::int64_t steps = 10;         // Timed,
  std::int64_t warm_up = 2;        // after so many that are not.
  std::int64_t most_examples = 0;  // Of a batch; 0 for the whole.
};

// Times steps of `config` at `length` with fresh batches: sampling, forward, loss, and in training
// backward, clip and Adam. The matrix product is timed between the steps.
StepCost measure_step(const RunConfig& config, std::int64_t length, const BenchmarkPlan& plan);
// The same on `backend` in place of what the config's `execution` asks for.
StepCost measure_step(RunConfig config, std::int64_t length, const BenchmarkPlan& plan,
                      const Backend& backend);

// Returns when the device that works on `result` has done so.
void wait_for(const at::Tensor& result);

}  // namespace che
