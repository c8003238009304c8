#include "experiments/reevaluation.h"

#include <fmt/core.h>

#include <chrono>

#include "core/error.h"
#include "core/file_lock.h"
#include "experiments/range_evaluation.h"
#include "experiments/restored_model.h"

namespace che {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kWriteSeconds = 5;
constexpr double kProgressSeconds = 1;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

JobOutcome evaluate_stored_model(const RunFolder& run, const EvaluationConfig& asked,
                                 const ProgressSink& progress, const std::atomic<int>& stop) {
  RunConfig config = run.config();
  config.evaluation = asked;
  config.check();
  const FileLock lock(run.path() / "lock");
  std::vector<EvaluationRow> rows = run.evaluation();
  const std::vector<std::int64_t> lengths = missing_lengths(rows, asked);
  if (lengths.empty()) return JobOutcome::kDone;
  const RestoredModel restored = restore_model(run);
  for (const std::string& warning : restored.warnings) {
    progress({.job = run.id(), .phase = "warning", .text = warning});
  }
  if (restored.step != config.training.steps) {
    throw Error(fmt::format("its newest good checkpoint is of step {} of {}; `che run` trains it to the end",
                            restored.step, config.training.steps));
  }
  const Clock::time_point start = Clock::now();
  Clock::time_point last_write = start;
  Clock::time_point last_progress = start;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto measured = evaluate_length(*restored.model, {config}, lengths[i], stop);
    if (!measured) {
      run.write_evaluation(rows);
      return JobOutcome::kInterrupted;
    }
    store_row(rows, measured->front());
    if (seconds_since(last_write) >= kWriteSeconds) {
      run.write_evaluation(rows);
      last_write = Clock::now();
    }
    if (seconds_since(last_progress) < kProgressSeconds && i + 1 < lengths.size()) continue;
    const double per_second = static_cast<double>(i + 1) / seconds_since(start);
    progress({.job = run.id(),
              .phase = "evaluating",
              .done = static_cast<std::int64_t>(i + 1),
              .total = static_cast<std::int64_t>(lengths.size()),
              .loss = measured->front().loss,
              .accuracy = measured->front().accuracy,
              .per_second = per_second,
              .seconds_left = static_cast<double>(lengths.size() - i - 1) / per_second});
    last_progress = Clock::now();
  }
  run.write_evaluation(rows);
  return JobOutcome::kDone;
}

}  // namespace che
