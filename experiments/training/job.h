#pragma once

#include <atomic>
#include <chrono>
#include <vector>

#include "experiments/schedule/progress.h"
#include "experiments/store/run_folder.h"

namespace che {

// How far a job came.
enum class JobOutcome {
  kDone,         // Every run is trained and evaluated.
  kFailed,       // A run failed; its status says why, the others are done.
  kInterrupted,  // `stop` was set; checkpoints are written.
};

// Trains and evaluates runs that differ only in seed and learning rate, in lock-step, from their
// newest good checkpoints, and stores what it measures as it goes. `stop` is looked at after every
// step and between evaluation batches. Throws Error (usage) for runs that are no job, or that another
// process works on and does not let go of for `patience` (a worker whose scheduler was killed ends soon) or
// takes over because nothing was heard of this one,
// and (runtime) for what stops all runs, such as a full disk.
JobOutcome work_on_job(const std::vector<RunFolder>& runs, const ProgressSink& progress,
                       const std::atomic<int>& stop, std::chrono::seconds patience = std::chrono::seconds(0));

}  // namespace che
