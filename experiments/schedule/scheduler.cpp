#include "experiments/schedule/scheduler.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <functional>

#include "core/clock.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "core/process.h"
#include "core/resources.h"
#include "core/text.h"
#include "experiments/plan/run_workload.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/pending_work.h"
#include "experiments/schedule/progress.h"
#include "experiments/schedule/sweep_progress.h"

namespace che {
namespace {

// "length 17" or "lengths 17..47": the least and the greatest that are measured.
std::string ends_of(const EvaluationConfig& evaluation) {
  const std::vector<std::int64_t> lengths = evaluation.lengths();
  if (lengths.size() == 1) return fmt::format("length {}", lengths.front());
  return fmt::format("lengths {}..{}", lengths.front(), lengths.back());
}

// "perplexity 4.59 to 4.46 over lengths 128..4096": what a text has in place of a mean.
std::string perplexity_text(const std::vector<EvaluationRow>& rows, const RunConfig& config) {
  const Metric metric = create_workload(config)->metric();
  const std::vector<EvaluationRow> present = present_rows(rows, config);
  const auto text = [&](const EvaluationRow& row) {
    return metric.format(metric.value(row.accuracy, row.loss));
  };
  return fmt::format("perplexity {} to {} over {}", text(present.front()), text(present.back()),
                     ends_of(config.evaluation));
}

// Empty while a length is missing.
std::string score_text(const RunFolder& run) {
  const std::vector<EvaluationRow> rows = run.evaluation();
  const auto mean = score(rows, run.config());
  if (!mean) return "";
  if (run.config().has_text()) return ", " + perplexity_text(rows, run.config());
  return fmt::format(", score {:.1f} % (mean accuracy over {})", 100 * *mean,
                     ends_of(run.config().evaluation));
}

// Returns a line about a run whose worker trained and evaluated it.
std::string training_line(const RunFolder& run, int exit_status, const std::string& reason, JobEnd& end) {
  // Not a run that another process holds: its status is that process's to write.
  const bool has_died = WIFSIGNALED(exit_status) || WEXITSTATUS(exit_status) == 1;
  if (has_died && !FileLock::is_held(run.path())) run.mark_failed(reason);
  const RunStatus status = run.status();
  std::string line = fmt::format("{}: {}", run.id(), state_name(status.state));
  if (status.state == RunState::kFailed) {
    end = JobEnd::kFailed;
    return line + ": " + status.error;
  }
  if (status.state == RunState::kFinished) {
    // It lacks test lengths that its worker could not measure.
    if (!reason.empty() && score_text(run).empty()) {
      return fmt::format("{}: not evaluated: {}", run.id(), reason);
    }
    return line + score_text(run) +
           fmt::format(", {:.0f} s", status.training_seconds + status.evaluation_seconds);
  }
  if (end == JobEnd::kDone) end = JobEnd::kInterrupted;
  return reason.empty() ? line : line + ": " + reason;
}

// Returns a line about a run whose worker evaluated its stored model.
std::string evaluation_line(const RunFolder& run, const EvaluationRequest& asked, int exit_status,
                            const std::string& reason, JobEnd& end) {
  const RunConfig config = asked.applied_to(run.config());
  const auto mean = score(run.evaluation(), config);
  if (WIFEXITED(exit_status) && WEXITSTATUS(exit_status) == 1) {
    return fmt::format("{}: not evaluated: see the warning above", run.id());
  }
  if (!reason.empty()) return fmt::format("{}: not evaluated: {}", run.id(), reason);
  if (!mean) {
    end = JobEnd::kInterrupted;
    return fmt::format("{}: {}", run.id(), state_name(RunState::kInterrupted));
  }
  // No score, which counts the lengths of the run's config.
  if (config.has_text()) {
    return fmt::format("{}: evaluated, {}", run.id(), perplexity_text(run.evaluation(), config));
  }
  return fmt::format("{}: evaluated, mean accuracy {:.1f} % over {}", run.id(), 100 * *mean,
                     ends_of(config.evaluation));
}

constexpr int kPollMilliseconds = 200;

// The config that the runs of a job share, on the device of this call.
RunConfig config_of(const std::vector<RunFolder>& job, const Schedule& schedule) {
  RunConfig config = job.front().config();
  if (schedule.evaluation && schedule.evaluation->device) {
    config.execution = on_device(config.execution, *schedule.evaluation->device);
  }
  return config;
}

// One call's jobs on their way through worker processes.
class Scheduler {
 public:
  Scheduler(const std::vector<std::vector<RunFolder>>& jobs, const Schedule& schedule,
            const std::filesystem::path& program)
      : jobs_(jobs),
        schedule_(schedule),
        program_(program),
        whole_(jobs, schedule.evaluation, schedule.to_begin_again),
        job_limit_(schedule.max_jobs > 0 ? std::min(jobs.size(), static_cast<std::size_t>(schedule.max_jobs))
                                         : jobs.size()) {}

  int run() {
    while (true) {
      start_workers();
      if (active_.empty()) return end();
      if (must_stop()) stop_workers();
      display_.show_total(whole_.describe(seconds_since(start_)));
      wait_for_workers();
    }
  }

 private:
  bool must_stop() const { return stop_signal().load() != 0 || is_unwritable_; }

  void start_workers() {
    while (!must_stop() && next_job_ < job_limit_ &&
           active_.size() < static_cast<std::size_t>(schedule_.workers)) {
      const std::vector<RunFolder>& job = jobs_[next_job_++];
      if (!can_begin(job)) continue;
      WorkerTask task{.folders = {}, .evaluation = schedule_.evaluation, .parent = getpid()};
      for (const RunFolder& run : job) task.folders.push_back(run.path().string());
      active_.emplace_back(program_, task, job, gpu_for(config_of(job, schedule_)));
    }
  }

  // Makes those runs of `job` begin again that have to.
  bool can_begin(const std::vector<RunFolder>& job) {
    PassedSteps passed;
    for (const RunFolder& run : job) {
      const auto found = schedule_.to_begin_again.find(run.id());
      if (found != schedule_.to_begin_again.end()) passed.insert(*found);
    }
    try {
      begin_again(job.front().experiment(), passed);
      return true;
    } catch (const Error& error) {
      const std::string& name = job.front().id();
      const std::string runs = joined(job, ", ", std::mem_fn(&RunFolder::id));
      display_.finish(name, fmt::format("{}: not begun again: {}", runs, error.what()));
      whole_.finish(name, true);
      has_failed_ = true;
      is_unwritable_ |= error.kind() == ErrorKind::kRuntime;
      return false;
    }
  }

  // The worker of a job that names its GPU by number sees all GPUs.
  std::optional<WorkerGpu> gpu_for(const RunConfig& config) const {
    std::vector<std::string> in_use;
    for (const WorkerProcess& worker : active_) {
      if (worker.gpu()) in_use.push_back(worker.gpu()->name);
    }
    const auto gpu = next_gpu(config.execution, gpus_, in_use);
    if (!gpu) return std::nullopt;
    return WorkerGpu{gpus_.at(static_cast<std::size_t>(*gpu)),
                     !device_choice(config.execution.device).number};
  }

  void stop_workers() {
    if (are_stopped_) return;
    for (const WorkerProcess& worker : active_) worker.stop();
    are_stopped_ = true;
  }

  // Waits until some worker has written something or has ended, or for a moment.
  void wait_for_workers() {
    std::vector<pollfd> waiting;
    waiting.reserve(active_.size());
    for (const WorkerProcess& worker : active_) waiting.push_back({worker.output(), POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), kPollMilliseconds) <= 0) return;
    const auto show = [&](std::string_view line) {
      const auto progress = parse_progress(line);
      if (!progress) return;
      whole_.update(*progress, seconds_since(start_));
      display_.show(*progress);
    };
    for (std::size_t i = waiting.size(); i-- > 0;) {
      if (waiting[i].revents == 0 || active_[i].read_lines(show)) continue;
      finish_job(active_[i]);
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void finish_job(const WorkerProcess& worker) {
    const JobReport report = report_job(worker.job(), worker.wait(), schedule_.evaluation);
    for (const std::string& line : report.lines) display_.finish(worker.name(), line);
    if (report.end == JobEnd::kInterrupted) {
      is_interrupted_ = true;
      return;
    }
    whole_.finish(worker.name(), report.end == JobEnd::kFailed || report.end == JobEnd::kUnwritable);
    has_failed_ |= report.end == JobEnd::kFailed;
    is_unwritable_ |= report.end == JobEnd::kUnwritable;
  }

  // Says why it ends; returns the exit code.
  int end() const {
    if (is_unwritable_) {
      print_progress(
          "Stopped: results cannot be read or written. Finished results are kept; free space or make the "
          "folder writable, and run the same command again.\n");
      return 1;
    }
    if (is_interrupted_ || (stop_signal().load() != 0 && next_job_ < job_limit_)) {
      print_progress("Interrupted; run the same command again to resume.\n");
      return kExitAgain;
    }
    const std::size_t left = jobs_.size() - next_job_;
    if (left > 0) print_progress(fmt::format("{} left; run the same command again.\n", counted(left, "job")));
    if (has_failed_) return 1;
    return left == 0 ? 0 : kExitAgain;
  }

  const std::vector<std::vector<RunFolder>>& jobs_;
  const Schedule& schedule_;
  const std::filesystem::path& program_;
  std::vector<std::string> gpus_ = available_resources().gpus;
  ProgressDisplay display_;
  SweepProgress whole_;
  Clock::time_point start_ = Clock::now();
  std::size_t job_limit_;
  std::size_t next_job_ = 0;
  std::vector<WorkerProcess> active_;
  bool has_failed_ = false;
  bool is_interrupted_ = false;
  bool is_unwritable_ = false;
  bool are_stopped_ = false;
};

}  // namespace

std::string exit_reason(int exit_status) {
  if (WIFSIGNALED(exit_status)) {
    const int signal = WTERMSIG(exit_status);
    return fmt::format("its process was ended by signal {} ({}{}); run again to resume", signal,
                       strsignal(signal),
                       signal == SIGKILL ? ": by hand, or by the system when memory ran out" : "");
  }
  const int code = WEXITSTATUS(exit_status);
  return code == 0 || code == kExitAgain
             ? ""
             : fmt::format("its process ended with exit code {}; run again to resume", code);
}

JobReport report_job(const std::vector<RunFolder>& job, int exit_status,
                     const std::optional<EvaluationRequest>& evaluation) {
  const std::string reason = exit_reason(exit_status);
  JobReport report{.end = reason.empty() ? JobEnd::kDone : JobEnd::kFailed, .lines = {}};
  for (const RunFolder& run : job) {
    try {
      report.lines.push_back(evaluation ? evaluation_line(run, *evaluation, exit_status, reason, report.end)
                                        : training_line(run, exit_status, reason, report.end));
    } catch (const Error& error) {
      report.end = error.kind() == ErrorKind::kRuntime ? JobEnd::kUnwritable : JobEnd::kFailed;
      report.lines.push_back(fmt::format("{}: failed: {}", run.id(), error.what()));
      if (report.end == JobEnd::kUnwritable) break;
    }
  }
  return report;
}

int run_jobs(const std::vector<std::vector<RunFolder>>& jobs, const Schedule& schedule,
             const std::filesystem::path& program) {
  catch_stop_signals();
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<RunConfig> configs;
  configs.reserve(jobs.size());
  for (const std::vector<RunFolder>& job : jobs) configs.push_back(config_of(job, schedule));
  check_devices(configs);
  if (const auto warning = threads_warning(configs)) print_warning(*warning);
  return Scheduler(jobs, schedule, program).run();
}

}  // namespace che
