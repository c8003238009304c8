#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "experiments/plan/run_config.h"
#include "models/ops/device/backend.h"

namespace che {

// The cost of a training step, or of an evaluated batch, of execution.replicas runs in lock-step on this
// machine.
struct StepCost {
  std::int64_t tokens = 0;  // Tokens of an example, empty symbols included.
  double seconds = 0;       // Median of the steps.
  // Medians by part of the step: "data", "attention", "linear", "norm", "optimiser" and, for the rest,
  // "other". They say nothing about a GPU, whose work goes on while the host starts more. They are those of
  // the fused operations; with reference kernels, products of attention count as "linear" and the rest of
  // their gradients as "other".
  std::map<std::string, double> parts = {};
  double samples_per_second = 0;
  double operations = 0;   // Nominal: training_step_operations(), or a third of that an example.
  double matrix_rate = 0;  // Operations a second of a (batch * tokens, d) by (d, 4 d) product, same threads.
  double share = 0;        // The share of that rate that the step reaches.
  // The most memory meanwhile: the process' resident set, or the tensors on a GPU. Those of the matrix
  // product count.
  double peak_bytes = 0;
};

struct BenchmarkPlan {
  bool evaluate = false;           // Times batches of kEvaluationBatch examples without gradients.
  std::int64_t steps = 10;         // Timed steps,
  std::int64_t warm_up = 2;        // after so many that are not timed.
  std::int64_t most_examples = 0;  // The largest batch; 0 for no limit.
};

// Times steps of `config` at `length`: sampling, forward, loss, and in training backward, clip and Adam.
// Training has fresh batches; evaluation has the first of its own, which a text's config asks for. The matrix
// product is timed between the steps.
StepCost measure_step(RunConfig config, std::int64_t length, const BenchmarkPlan& plan,
                      const Backend& backend);

// Waits for the device that computes `result`.
void wait_for(const at::Tensor& result);

}  // namespace che
