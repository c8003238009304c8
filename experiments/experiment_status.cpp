#include "experiments/experiment_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "core/counted.h"
#include "core/file_lock.h"
#include "core/version.h"
#include "experiments/checkpoint.h"
#include "experiments/operations.h"
#include "experiments/progress.h"

namespace che {
namespace {

// Locks of another host need not be seen here. Its worker writes its status every ten seconds or after a slow
// step; one that was silent for this long is taken for dead.
constexpr double kSilentSeconds = 300;

// "step 120/2000 (6 %), 35.1 steps/s" or "evaluated 3 of 10 lengths"
std::string place_text(const StoredRun& stored, const RunConfig& config) {
  const RunStatus& status = stored.status;
  const std::int64_t steps = config.training.steps;
  if (status.step < steps) {
    std::string text = fmt::format("step {}/{} ({} %)", status.step, steps, 100 * status.step / steps);
    if (status.training_seconds > 0 && status.step > 0) {
      text += fmt::format(", {:.1f} steps/s", static_cast<double>(status.step) / status.training_seconds);
    }
    return text;
  }
  const std::size_t lengths = config.evaluation.lengths().size();
  return fmt::format("evaluated {} of {}",
                     lengths - missing_lengths(stored.evaluation, config.evaluation).size(),
                     counted(lengths, "length"));
}

bool is_at_work(const RunFolder& folder, const RunStatus& status, double silent) {
  if (FileLock::is_held(folder.path() / "lock")) return true;
  return status.host != host_name() && (status.state == "training" || status.state == "evaluating") &&
         silent < kSilentSeconds;
}

// Adds one run; returns whether it runs.
bool add(ExperimentStatus& all, const RunFolder& folder, const StoredRun& stored) {
  const RunStatus& status = stored.status;
  const auto note = [&](std::string_view state, std::string_view text) {
    all.lines.push_back(fmt::format("  {:<9} {}: {}", state, folder.id(), text));
  };
  if (!stored.damage.empty()) {
    ++all.damaged;
    note(kDamaged, status.error);
  } else if (status.state == "failed") {
    ++all.failed;
    note("failed", status.error);
  } else if (status.state == "finished") {
    ++(missing_lengths(stored.evaluation, folder.config().evaluation).empty() ? all.finished : all.waiting);
  } else {
    const double silent = static_cast<double>(std::time(nullptr)) - utc_seconds(status.updated).value_or(0);
    const std::string place = place_text(stored, folder.config());
    const bool runs = is_at_work(folder, status, silent);
    if (!runs && status.state == "waiting" && status.step == 0) {
      ++all.waiting;
      return false;
    }
    ++(runs ? all.running : all.stopped);
    note(runs ? "running" : "stopped",
         status.state == "interrupted" || runs
             ? place
             : fmt::format("{}, nothing heard for {}", place, duration_text(silent)));
    return runs;
  }
  return false;
}

}  // namespace

ExperimentStatus experiment_status(const std::filesystem::path& experiment) {
  ExperimentStatus all;
  const auto warn = [&](const std::string& damage) {
    ++all.runs;
    ++all.damaged;
    all.lines.push_back(fmt::format("  {:<9} {}", kDamaged, damage));
  };
  double all_left = 0;  // Operations.
  double all_done = 0;  // Likewise, in
  double seconds = 0;   // this time, added up over the runs.
  for (const RunFolder& folder : open_runs(experiment, warn)) {
    ++all.runs;
    const StoredRun stored = folder.read();
    const bool runs = add(all, folder, stored);
    // Before its first checkpoint a run that runs has its model in memory alone.
    const double left = operations_left(folder.config(), stored, runs || has_checkpoint(folder.path())).all();
    if (stored.status.state == "failed" || !stored.damage.empty()) continue;
    all_left += left;
    const double done = run_operations(folder.config()).all() - left;
    const double spent = stored.status.training_seconds + stored.status.evaluation_seconds;
    // A lost model has taken time and is not done; a status that was lost and written anew knows no times.
    if (done <= 0 || spent <= 0) continue;
    all_done += done;
    seconds += spent;
  }
  all.is_worked_on = all.running > 0 || FileLock::is_held(experiment / "lock");
  if (all.running > 0 && all_done > 0) {
    all.seconds_left = all_left * seconds / all_done / static_cast<double>(all.running);
  }
  return all;
}

std::string describe(const ExperimentStatus& status) {
  std::string text = fmt::format("{}: {} finished, {} running, {} stopped, {} failed, {} waiting, {} damaged",
                                 counted(status.runs, "run"), status.finished, status.running, status.stopped,
                                 status.failed, status.waiting, status.damaged);
  if (status.seconds_left > 0) text += fmt::format("; about {} left", duration_text(status.seconds_left));
  text += "\n";
  for (const std::string& line : status.lines) text += line + "\n";
  return text;
}

}  // namespace che
