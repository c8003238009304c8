#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "experiments/config.h"
#include "experiments/progress.h"
#include "experiments/results_store.h"
#include "models/transformer.h"

namespace che {

// Evaluates every replica of `model` on the fresh samples that `runs.front()`'s evaluation asks
// for at `length`; one row a replica. Samples depend on task, length and evaluation seed alone.
// Batches of kEvaluationBatch are split so that activations stay within execution.memory_gib, which
// changes no draw. `runs` are the replicas. Nothing when `stop` becomes non-zero on the way.
std::optional<std::vector<EvaluationRow>> evaluate_length(const Transformer& model,
                                                          const std::vector<RunConfig>& runs,
                                                          std::int64_t length, const std::atomic<int>& stop);

// The same at each of `lengths`: `take` gets the rows of a length, `write` is called every few seconds and at
// the end, however it comes. False when `stop` ended it.
bool evaluate_lengths(const Transformer& model, const std::vector<RunConfig>& runs,
                      const std::vector<std::int64_t>& lengths, const ProgressSink& progress,
                      const std::atomic<int>& stop,
                      const std::function<void(const std::vector<EvaluationRow>&)>& take,
                      const std::function<void()>& write);

// Examples of `tokens` symbols that one forward pass of `replicas` may hold within `memory_gib`; at
// least 1.
std::int64_t examples_within(const Transformer& model, std::int64_t tokens, double memory_gib);

}  // namespace che
