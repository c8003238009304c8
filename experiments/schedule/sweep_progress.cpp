#include "experiments/schedule/sweep_progress.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "experiments/schedule/time_left.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/needs.h"

namespace che {

SweepProgress::SweepProgress(const std::vector<std::vector<RunFolder>>& jobs,
                             const std::optional<EvaluationRequest>& evaluation,
                             const PassedSteps& to_begin_again) {
  const StoredRuns others(jobs.empty() ? "" : jobs.front().front().experiment());
  for (const std::vector<RunFolder>& runs : jobs) {
    Job& job = jobs_[runs.front().id()];
    bool is_told = true;
    std::vector<std::int64_t> steps;
    for (const RunFolder& run : runs) {
      const StoredRun stored = run.read();
      RunConfig config = run.config();
      if (evaluation) config = evaluation->applied_to(config);
      const bool is_anew = to_begin_again.contains(run.id());
      const bool has_model = evaluation || (!is_anew && has_checkpoint(run.path()));
      const RunNeeds needs = has_model ? assess(config, stored, true)
                             : is_anew ? assess_anew(run, others)
                                       : assess(run, others);
      const Operations& left = needs.left;
      if (left.all() == 0) continue;
      job.left.training += left.training;
      job.left.evaluation += left.evaluation;
      steps.push_back(has_model ? stored.status.step : needs.first_step);
      is_told = is_told && stored.damage.empty();
    }
    if (is_told && !steps.empty()) job.first_step = std::ranges::min(steps);
  }
}

void SweepProgress::update(const Progress& progress, double seconds) {
  const auto found = jobs_.find(progress.job);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  const bool training = progress.phase == Phase::kTraining;
  if (progress.phase == Phase::kWarning || progress.total <= 0) return;
  if (!job.first_step) {
    // Steps before the first report were not made in this call.
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
  if (!job.clock) job.clock.emplace(job.left.all());
  job.clock->report(job.done, seconds);
}

void SweepProgress::finish(const std::string& name, bool failed) {
  Job& job = jobs_.at(name);
  if (!failed) job.done = job.left.all();
  job.ended = true;
  ++ended_;
  failed_ += failed ? 1U : 0U;
}

std::optional<double> SweepProgress::time_left(double seconds) const {
  double done = 0;
  double left = 0;
  double active = 0;  // Jobs that are worked on.
  std::optional<double> of_all;
  for (const auto& [name, job] : jobs_) {
    done += job.done;
    if (const auto own = job.clock ? job.clock->speed() : std::nullopt) {
      of_all = of_all ? (*of_all + *own) / 2 : *own;
    }
    if (job.ended) continue;
    left += job.left.all() - job.done;
    active += job.clock ? 1 : 0;
  }
  if (left <= 0 || done <= 0) return std::nullopt;
  // Jobs that were too short to report twice: by what is done in all.
  if (!of_all || active == 0) return seconds * left / done;
  std::vector<double> times;
  for (const auto& [name, job] : jobs_) {
    if (job.ended) continue;
    const auto own = job.clock ? job.clock->estimate() : std::nullopt;
    times.push_back(own ? *own : (job.left.all() - job.done) / *of_all);
  }
  return side_by_side(times, active);
}

std::string SweepProgress::describe(double seconds) const {
  double all = 0;
  double left = 0;
  for (const auto& [name, job] : jobs_) {
    all += job.left.all();
    if (!job.ended) left += job.left.all() - job.done;
  }
  const std::string failed = failed_ == 0 ? "" : fmt::format(" ({} failed)", failed_);
  // Rounded down, so that 100 % means the end.
  const double part =
      all > 0 ? (all - left) / all
              : static_cast<double>(ended_) / static_cast<double>(std::max<std::size_t>(jobs_.size(), 1));
  std::string text = fmt::format("total: {}/{}{}, {} %", ended_, counted(jobs_.size(), "job"), failed,
                                 static_cast<int>(100 * part));
  if (const auto time = time_left(seconds)) text += fmt::format(", {} left", duration_text(*time));
  return text;
}

}  // namespace che
