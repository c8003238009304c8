#pragma once

#include <atomic>
#include <chrono>

#include "experiments/training/job.h"

namespace che {

// Evaluates the stored model of a trained run at what `asked` lists and adds the rows to its evaluation.csv;
// rows that are there stay. Config and status stay as they are. Throws Error (usage) for a run without a
// good checkpoint of its last step, for lengths that its encoding cannot serve, and when another process
// works on it and does not let go of it for `patience`; (runtime) when the disk refuses.
JobOutcome evaluate_stored_model(const RunFolder& run, const RunConfig& asked, const ProgressSink& progress,
                                 const std::atomic<int>& stop,
                                 std::chrono::seconds patience = std::chrono::seconds(0));

}  // namespace che
