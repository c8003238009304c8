#pragma once

#include <atomic>
#include <chrono>

#include "core/file_lock.h"
#include "experiments/schedule/progress.h"
#include "experiments/store/run_folder.h"

namespace che {

// Locks the run's folder for this process. Waits up to `patience` for another process that holds it and is
// about to end, such as a worker whose scheduler was killed, and longer, with a warning, for one on another
// machine that has fallen silent and soon counts as dead; but not once `stop` is set. Throws Error (usage)
// when it is still held, and (runtime) when the system refuses.
FileLock lock_run(const RunFolder& run, const ProgressSink& progress, const std::atomic<int>& stop,
                  std::chrono::seconds patience);

}  // namespace che
