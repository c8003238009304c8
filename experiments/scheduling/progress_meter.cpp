#include "experiments/scheduling/progress_meter.h"

namespace che {
namespace {

constexpr double kProgressSeconds = 1;

}  // namespace

ProgressMeter::ProgressMeter(const std::string& job, Phase phase, std::int64_t done, std::int64_t total,
                             double work, const ProgressSink& sink)
    : progress_{.job = job, .phase = phase, .done = done, .total = total},
      sink_(sink),
      time_left_(work),
      reported_(done),
      is_due_(kProgressSeconds) {}

void ProgressMeter::add(double work, double loss, double accuracy) {
  ++progress_.done;
  work_done_ += work;
  progress_.loss += loss;
  progress_.accuracy += accuracy;
  const bool is_last = progress_.done == progress_.total;
  if (!is_due_.is_due() && !is_last) return;
  Progress report = progress_;
  const auto count = static_cast<double>(progress_.done - reported_);
  report.loss /= count;
  report.accuracy /= count;
  report.per_second = count / seconds_since(last_report_);
  time_left_.report(work_done_, seconds_since(start_));
  report.left = time_left_.estimate();
  sink_(report);
  reported_ = progress_.done;
  progress_.loss = progress_.accuracy = 0;
  last_report_ = Clock::now();
}

}  // namespace che
