#include "experiments/training/reevaluation.h"

#include <fmt/core.h>

#include "core/error.h"
#include "experiments/training/range_evaluation.h"
#include "experiments/training/restored_model.h"
#include "experiments/training/run_lock.h"

namespace che {

JobOutcome evaluate_stored_model(const RunFolder& run, const RunConfig& asked, const ProgressSink& progress,
                                 const std::atomic<int>& stop, std::chrono::seconds patience) {
  asked.check();
  const FileLock lock = lock_run(run, progress, stop, patience);
  std::vector<EvaluationRow> rows = run.evaluation();
  const std::vector<std::int64_t> lengths = missing_lengths(rows, asked);
  if (lengths.empty()) return JobOutcome::kDone;
  const RestoredModel restored = restore_model(run, asked, DamagedCheckpoints::kSetAside);
  for (const std::string& warning : restored.warnings) {
    progress(warning_about(run.id(), warning));
  }
  if (restored.step != asked.training.steps) {
    throw Error(
        fmt::format("its newest good checkpoint is of step {} of {}; remove the run's folder, and "
                    "`che run` trains it again",
                    restored.step, asked.training.steps));
  }
  const auto take = [&](const std::vector<EvaluationRow>& measured) { store_row(rows, measured.front()); };
  const auto write = [&] {
    lock.check();
    run.write_evaluation(rows);
  };
  const bool all = evaluate_lengths(*restored.model, {asked}, lengths, progress, stop, take, write);
  return all ? JobOutcome::kDone : JobOutcome::kInterrupted;
}

}  // namespace che
