#include "experiments/scheduling/observed_run.h"

#include <ctime>

#include "core/file_lock.h"
#include "experiments/store/checkpoint.h"

namespace che {
namespace {

bool is_computing(RunState state) { return state == RunState::kTraining || state == RunState::kEvaluating; }

RunState current_state(const ObservedRun& run) {
  const RunState stored = run.stored.status.state;
  if (stored == RunState::kFailed) return stored;
  if (stored == RunState::kFinished) {
    if (run.needs.missing.empty()) return stored;
    return run.is_at_work ? RunState::kEvaluating : RunState::kWaiting;
  }
  if (run.is_at_work) return stored == RunState::kEvaluating ? stored : RunState::kTraining;
  const bool is_begun = is_computing(stored) || run.stored.status.step > 0;
  return is_begun ? RunState::kInterrupted : stored;
}

}  // namespace

std::string ObservedRun::state_text() const { return needs.is_damaged ? kDamaged : state_name(state); }

ObservedRun observe(const RunFolder& folder) {
  ObservedRun run{.stored = folder.read(), .needs = {}};
  const RunStatus& status = run.stored.status;
  run.silent_seconds = static_cast<double>(std::time(nullptr)) - utc_seconds(status.updated).value_or(0);
  run.is_at_work = FileLock::is_held(folder.path());
  run.needs = assess(folder.config(), run.stored, has_checkpoint(folder.path()));
  run.state = current_state(run);
  return run;
}

}  // namespace che
