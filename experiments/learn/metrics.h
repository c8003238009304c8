#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/store/checkpoint.h"
#include "experiments/store/run_folder.h"
#include "experiments/store/run_rows.h"

namespace che {

// The rows of a run's metrics.csv while it trains. A row ends at certain steps, whatever the clock says and
// whenever checkpoints are written. So after every add() rows and sums are those of that step. A checkpoint
// may be written at any time, and an interrupted run ends with the files of an uninterrupted one.
class MetricsLog {
 public:
  // A row ends at every multiple of `log_steps` and at `last_step`.
  MetricsLog(std::int64_t log_steps, std::int64_t last_step) : log_steps_(log_steps), last_step_(last_step) {}

  // Goes on from a checkpoint at `step` with these sums. Rows of later steps are dropped: they are measured
  // again. Returns false, and drops all rows, where they end before the steps of the sums begin.
  bool resume(std::vector<MetricsRow> rows, std::int64_t step, const MetricSums& sums);

  // Adds the measurements of update number `measured.step` (from 1); `measured.seconds` is the run's training
  // time so far.
  void add(const MetricsRow& measured);

  // Ends the open row, if there is one, at `step`, before its time: the run goes no further.
  void end_row(std::int64_t step, double seconds);

  const std::vector<MetricsRow>& rows() const { return rows_; }
  // Returns the sums of the open row.
  const MetricSums& sums() const { return sums_; }

 private:
  std::int64_t log_steps_;
  std::int64_t last_step_;
  std::vector<MetricsRow> rows_;
  MetricSums sums_;
};

// Returns the content of a TensorBoard event file with the scalars training/{loss,accuracy,gradient_norm}
// over steps and evaluation/{accuracy,loss} over lengths. `start` is when training began, in seconds since
// 1970.
//
// The file is TFRecord (each record: length, its masked CRC32C, data, its masked CRC32C) of Event messages
// (tensorflow/core/util/event.proto). It is a function of the rows alone, so that it can be replaced whole.
std::string tensorboard_events(const std::vector<MetricsRow>& metrics,
                               const std::vector<EvaluationRow>& evaluation, double start);

// Replaces the run's event file by one with these rows; of `evaluation` it takes those that the config asks
// for. Does nothing unless the config asks for the file. Throws Error (runtime) when the disk refuses.
void write_tensorboard(const RunFolder& run, const std::vector<MetricsRow>& metrics,
                       const std::vector<EvaluationRow>& evaluation, const RunStatus& status);

}  // namespace che
