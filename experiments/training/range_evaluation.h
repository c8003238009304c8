#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "experiments/plan/run_config.h"
#include "experiments/schedule/progress.h"
#include "experiments/store/run_folder.h"
#include "models/transformer.h"

namespace che {

// Is told what the replicas predict for samples of a length, in their order: symbols (replicas, samples,
// outputs) of type long on the CPU, the first of them of the sample `index`.
using PredictionSink =
    std::function<void(std::int64_t length, std::int64_t index, const at::Tensor& symbols)>;

// Evaluates every replica of `model` on the fresh samples that `runs.front()`'s evaluation asks
// for at `length`; one row per replica. Samples depend on task, length and evaluation seed only.
// Batches of kEvaluationBatch are split so that activations stay within execution.memory_gib, which
// changes no draw. `runs` are the replicas. Nothing when `stop` becomes non-zero on the way.
std::optional<std::vector<EvaluationRow>> evaluate_length(const Transformer& model,
                                                          const std::vector<RunConfig>& runs,
                                                          std::int64_t length, const std::atomic<int>& stop,
                                                          const PredictionSink& predicted = {});

// The same at each of `lengths`: `take` gets the rows of a length, `write` is called every few seconds and at
// the end, however it comes. False when `stop` ended it.
bool evaluate_lengths(const Transformer& model, const std::vector<RunConfig>& runs,
                      const std::vector<std::int64_t>& lengths, const ProgressSink& progress,
                      const std::atomic<int>& stop,
                      const std::function<void(const std::vector<EvaluationRow>&)>& take,
                      const std::function<void()>& write, const PredictionSink& predicted = {});

// Examples that one forward pass may hold within `memory_gib`, as measured; 1 .. kEvaluationBatch. `forward`
// makes a pass over so many. It is called with 1 and 2, and where a batch does not fit at that rate, with up
// to 8: what examples share counts once for all of them. Beyond one example, which library operations need
// not copy, memory is a maximum of sums of parts that grow no faster than the number of examples, so that the
// answer is never too many.
std::int64_t examples_within(double memory_gib, const std::function<void(std::int64_t examples)>& forward);

}  // namespace che
