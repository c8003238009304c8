#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/config.h"
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

// Examples of `tokens` symbols that one forward pass of `replicas` may hold within `memory_gib`; at
// least 1.
std::int64_t examples_within(const Transformer& model, std::int64_t tokens, double memory_gib);

}  // namespace che
