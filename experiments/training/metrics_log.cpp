#include "experiments/training/metrics_log.h"

#include <utility>

namespace che {

void MetricsLog::resume(std::vector<MetricsRow> rows, std::int64_t step, const MetricSums& sums) {
  std::erase_if(rows, [&](const MetricsRow& row) { return row.step > step; });
  rows_ = std::move(rows);
  sums_ = sums;
}

void MetricsLog::add(const MetricsRow& measured) {
  ++sums_.steps;
  sums_.loss += measured.loss;
  sums_.accuracy += measured.accuracy;
  sums_.gradient_norm += measured.gradient_norm;
  if (measured.step % log_steps_ == 0 || measured.step == last_step_) {
    end_row(measured.step, measured.seconds);
  }
}

void MetricsLog::end_row(std::int64_t step, double seconds) {
  if (sums_.steps == 0) return;
  rows_.push_back({.step = step,
                   .loss = sums_.loss / sums_.steps,
                   .accuracy = sums_.accuracy / sums_.steps,
                   .gradient_norm = sums_.gradient_norm / sums_.steps,
                   .seconds = seconds});
  sums_ = {};
}

}  // namespace che
