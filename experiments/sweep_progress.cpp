#include "experiments/sweep_progress.h"

#include <fmt/core.h>

#include <algorithm>

#include "experiments/operations.h"

namespace che {

SweepProgress::SweepProgress(const std::vector<std::vector<RunFolder>>& jobs, bool trains) {
  for (const std::vector<RunFolder>& runs : jobs) {
    Job& job = jobs_[runs.front().id()];
    for (const RunFolder& run : runs) {
      const double evaluation = evaluation_operations(run.config());
      job.evaluation += evaluation;
      if (trains) job.training += run_operations(run.config()) - evaluation;
    }
  }
}

void SweepProgress::update(const Progress& progress) {
  const auto found = jobs_.find(progress.job);
  if (found == jobs_.end() || progress.total <= 0) return;
  Job& job = found->second;
  const double part = static_cast<double>(progress.done) / static_cast<double>(progress.total);
  if (progress.phase == "training") {
    job.done = part * job.training / job.size();
  } else if (progress.phase == "evaluating") {
    job.done = (job.training + part * job.evaluation) / job.size();
  } else {
    return;
  }
  if (job.before < 0) job.before = job.done;
}

void SweepProgress::finish(const std::string& name, bool failed) {
  Job& job = jobs_.at(name);
  if (job.before < 0) job.before = 1;  // Nothing was heard of it: it tells nothing about speed.
  job.done = 1;
  ++ended_;
  failed_ += failed ? 1U : 0U;
}

std::string SweepProgress::describe(double seconds) const {
  double size = 0;
  double done = 0;
  double gained = 0;
  for (const auto& [name, job] : jobs_) {
    size += job.size();
    done += job.done * job.size();
    if (job.before >= 0) gained += (job.done - job.before) * job.size();
  }
  const std::string failed = failed_ == 0 ? "" : fmt::format(" ({} failed)", failed_);
  // Rounded down, so that 100 % means the end.
  std::string text = fmt::format("all: {} of {} jobs ended{}, {} %", ended_, jobs_.size(), failed,
                                 static_cast<int>(100 * done / std::max(size, 1.0)));
  if (gained > 0 && done < size) {
    text += fmt::format(", about {} left", duration_text(seconds * (size - done) / gained));
  }
  return text;
}

}  // namespace che
