#pragma once

#include "experiments/schedule/worker_process.h"

namespace che {

// Does `task` in this process and reports its progress on standard output, one line of to_json_line() each.
// Returns the exit code: 0 when it is done, 1 when a run failed (its status, or a warning, says why),
// kExitAgain when it was asked to stop or its scheduler is gone. Throws Error (usage) for folders that are no
// job, and for runs that another process holds longer than an orphaned worker would; (runtime) for what stops
// all runs.
int run_worker(const WorkerTask& task);

}  // namespace che
