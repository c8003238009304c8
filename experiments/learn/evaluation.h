#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "experiments/learn/batches.h"
#include "experiments/plan/run_config.h"
#include "experiments/schedule/progress.h"
#include "experiments/store/run_rows.h"
#include "models/architectures/model.h"

namespace che {

// The results of a model's replicas at one length of their workload.
struct LengthResult {
  std::vector<EvaluationRow> rows;  // One per replica.
  at::Tensor predictions;           // (replicas, samples, outputs) of type uint8 on the CPU, if asked for.
};

// Says what an evaluation keeps beside its rows.
struct KeptDetails {
  bool predictions = false;
  bool curve = false;  // The positions of the longest test length, where the config asks for them.
};

// Evaluates every replica of `model` at `length` on the test examples that the evaluation of `runs.front()`
// asks for. `runs` are the replicas. Examples depend on workload, length and evaluation seed only. Batches of
// kEvaluationBatch are split as examples_within() says, which changes no draw.
// Returns nothing if `stop` becomes non-zero on the way.
std::optional<LengthResult> evaluate_length(const Model& model, const std::vector<RunConfig>& runs,
                                            std::int64_t length, const std::atomic<int>& stop,
                                            KeptDetails kept = {});

// Evaluates at several lengths, one call of next() each, and reports progress. Its arguments outlive it.
class Evaluation {
 public:
  Evaluation(const Model& model, const std::vector<RunConfig>& runs, std::vector<std::int64_t> lengths,
             const ProgressSink& progress, const std::atomic<int>& stop);

  // Returns nothing after the last length, or once `stop` is non-zero.
  std::optional<LengthResult> next(KeptDetails kept = {});

  // Whether results have been waiting for some seconds: true once each time.
  bool is_save_due() { return save_timer_.is_due(); }
  bool is_complete() const { return done_ == lengths_.size(); }

 private:
  const Model& model_;
  const std::vector<RunConfig>& runs_;
  std::vector<std::int64_t> lengths_;
  const std::atomic<int>& stop_;
  ProgressMeter meter_;
  Every save_timer_;
  std::size_t done_ = 0;
};

// Examples of `batch` that predict_rows() may take at once within `memory_gib`, as measured; at least 1, and
// fewer where attention reads more than 8192 tokens, so that a stop need not wait for long. It measures 1 and
// 2 examples and, if the batch does not fit at that rate, up to 8: memory that examples share counts once for
// all of them. Beyond one example, which library operations need not copy, memory grows at most linearly in
// the number of examples, so that the result never exceeds the budget.
std::int64_t examples_within(double memory_gib, const Model& model, const SequenceBatch& batch,
                             const Pass& pass, Wanted wanted = {});

}  // namespace che
