#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/file_lock.h"
#include "experiments/schedule/progress.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/prediction_file.h"
#include "experiments/store/run_folder.h"
#include "experiments/training/metrics_log.h"

namespace che {

// One run of a job, with its stored state in memory.
struct Replica {
  RunFolder folder;
  FileLock lock;  // Of the folder.
  RunStatus status;
  MetricsLog metrics;
  std::vector<EvaluationRow> evaluation;
  StepRows at_steps = {};
  bool lacks_predictions = false;  // Whether its config asks for predictions that are not stored.
  std::unique_ptr<PredictionFile> predictions = nullptr;  // While they are written.
  std::optional<Checkpoint> checkpoint;                   // The newest good one, or that of a shorter run.
  bool is_unsaved = false;  // Whether the folder lacks this checkpoint as its newest.

  bool has_failed() const { return status.state == RunState::kFailed; }
};

// Reads a run of `parameters` parameters, whose `lock` this process has, and makes it ready to go on from its
// newest good checkpoint, or from that of a shorter run (see shorter_runs): damaged files are set aside, and
// so is the evaluation of a model that is lost; the job is warned of each. Nothing for a run with every row
// that its config asks for; it is finished then, whatever else is lost of it.
std::optional<Replica> load_replica(const RunFolder& run, FileLock lock, std::int64_t parameters,
                                    const ProgressSink& progress);

}  // namespace che
