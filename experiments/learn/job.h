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

// Trains and evaluates runs that differ only in seed and learning rate, in lock-step, from their newest good
// checkpoints, and stores what it measures as it goes. `stop` is looked at after every step and between
// evaluation batches.
//
// Every run is locked. Another process that holds one and is about to end, such as a worker whose scheduler
// was killed, is given `patience` to let go of it. One on another machine that has fallen silent is waited
// for, with a warning, until it counts as dead. Where `stop` is set meanwhile, the job is interrupted.
//
// Throws Error (usage) for runs that are no job, and for runs that another process still holds, or takes over
// because nothing was heard of this one. Throws Error (runtime) for what stops all runs, such as a full disk.
JobOutcome work_on_job(const std::vector<RunFolder>& runs, const ProgressSink& progress,
                       const std::atomic<int>& stop, std::chrono::seconds patience = std::chrono::seconds(0));

// Evaluates the stored model of a trained run at what `asked` lists and adds the rows to its evaluation.csv;
// rows and config stay, and the status gets the time of the new rows. The run is locked as above. Throws
// Error (usage) for a run without a good checkpoint of its last step, for lengths that its encoding cannot
// serve, and if another process holds it. Throws Error (runtime) when the disk refuses.
JobOutcome evaluate_stored_model(const RunFolder& run, const RunConfig& asked, const ProgressSink& progress,
                                 const std::atomic<int>& stop,
                                 std::chrono::seconds patience = std::chrono::seconds(0));

}  // namespace che
