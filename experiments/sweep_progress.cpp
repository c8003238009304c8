#include "experiments/sweep_progress.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/counted.h"
#include "experiments/checkpoint.h"

namespace che {

SweepProgress::SweepProgress(const std::vector<std::vector<RunFolder>>& jobs,
                             const std::optional<EvaluationRequest>& evaluation) {
  for (const std::vector<RunFolder>& runs : jobs) {
    Job& job = jobs_[runs.front().id()];
    bool is_told = true;
    std::vector<std::int64_t> steps;
    for (const RunFolder& run : runs) {
      const StoredRun stored = run.read();
      RunConfig config = run.config();
      if (evaluation) config.evaluation = evaluation->applied_to(config.evaluation);
      const bool has_model = evaluation || has_checkpoint(run.path());
      const Operations left = operations_left(config, stored, has_model);
      if (left.all() == 0) continue;
      job.left.training += left.training;
      job.left.evaluation += left.evaluation;
      steps.push_back(has_model ? stored.status.step : 0);
      is_told = is_told && stored.damage.empty();
    }
    if (is_told && !steps.empty()) job.first_step = std::ranges::min(steps);
  }
}

void SweepProgress::update(const Progress& progress) {
  const auto found = jobs_.find(progress.job);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  const bool training = progress.phase == "training";
  if (!training && progress.phase != "evaluating") return;
  if (progress.total <= 0) return;
  if (!job.first_step) {
    // Whatever was done before it is first heard of was not done in this call.
    job.first_step = training ? progress.done : 0;
    job.left.training *=
        training ? 1 - static_cast<double>(progress.done) / static_cast<double>(progress.total) : 0;
  }
  const std::int64_t first = training ? *job.first_step : 0;
  if (progress.total <= first) return;
  // A damaged checkpoint sends a job back behind its first step.
  const double part =
      std::max(0.0, static_cast<double>(progress.done - first) / static_cast<double>(progress.total - first));
  job.done = training ? part * job.left.training : job.left.training + part * job.left.evaluation;
}

void SweepProgress::finish(const std::string& name, bool failed) {
  Job& job = jobs_.at(name);
  if (!failed) job.done = job.left.all();
  job.ended = true;
  ++ended_;
  failed_ += failed ? 1U : 0U;
}

std::string SweepProgress::describe(double seconds) const {
  double all = 0;
  double left = 0;
  double done = 0;  // Less than what is not left where a job failed on its way.
  for (const auto& [name, job] : jobs_) {
    all += job.left.all();
    done += job.done;
    if (!job.ended) left += job.left.all() - job.done;
  }
  const std::string failed = failed_ == 0 ? "" : fmt::format(" ({} failed)", failed_);
  // Rounded down, so that 100 % means the end.
  const double part =
      all > 0 ? (all - left) / all
              : static_cast<double>(ended_) / static_cast<double>(std::max<std::size_t>(jobs_.size(), 1));
  std::string text = fmt::format("all: {} of {} ended{}, {} %", ended_, counted(jobs_.size(), "job"), failed,
                                 static_cast<int>(100 * part));
  if (done > 0 && left > 0) text += fmt::format(", about {} left", duration_text(seconds * left / done));
  return text;
}

}  // namespace che
