#pragma once

#include <cstdint>
#include <vector>

#include "experiments/store/checkpoint.h"
#include "experiments/store/run_rows.h"

namespace che {

// The rows of a run's metrics.csv while it trains. Where a row ends depends on the step only, not on the
// clock and not on when checkpoints are written: after every add() rows and sums are those of that step, so
// that a checkpoint may be written at any time and an interrupted run ends with the files of an uninterrupted
// one.
class MetricsLog {
 public:
  // A row ends at every multiple of `log_steps` and at `last_step`.
  MetricsLog(std::int64_t log_steps, std::int64_t last_step) : log_steps_(log_steps), last_step_(last_step) {}

  // Goes on from a checkpoint at `step` with these sums. Rows of later steps are dropped: they are measured
  // again.
  void resume(std::vector<MetricsRow> rows, std::int64_t step, const MetricSums& sums);

  // What update number `measured.step` (from 1) measured; `measured.seconds` is the run's training time so
  // far.
  void add(const MetricsRow& measured);

  // Ends the open row, if there is one, at `step`, before its time: the run goes no further.
  void end_row(std::int64_t step, double seconds);

  const std::vector<MetricsRow>& rows() const { return rows_; }
  // Of the open row.
  const MetricSums& sums() const { return sums_; }

 private:
  std::int64_t log_steps_;
  std::int64_t last_step_;
  std::vector<MetricsRow> rows_;
  MetricSums sums_;
};

}  // namespace che
