#include "experiments/scheduling/scheduler.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "core/clock.h"
#include "core/error.h"
#include "core/resources.h"
#include "core/text.h"
#include "experiments/scheduling/job_end.h"
#include "experiments/scheduling/progress_display.h"
#include "experiments/scheduling/stop_signal.h"
#include "experiments/scheduling/sweep_progress.h"
#include "experiments/scheduling/worker_count.h"
#include "experiments/scheduling/worker_process.h"

namespace che {
namespace {

constexpr int kPollMilliseconds = 200;

// What the runs of a job share, as this call computes them.
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
        whole_(jobs, schedule.evaluation),
        job_limit_(schedule.max_jobs > 0 ? std::min(jobs.size(), static_cast<std::size_t>(schedule.max_jobs))
                                         : jobs.size()) {}

  int run() {
    while (true) {
      if (!must_stop()) start_workers();
      if (active_.empty()) return end();
      if (must_stop()) stop_workers();
      display_.show_total(whole_.describe(seconds_since(start_)));
      wait_for_workers();
    }
  }

 private:
  bool must_stop() const { return stop_signal().load() != 0 || is_unwritable_; }

  void start_workers() {
    while (next_job_ < job_limit_ && active_.size() < static_cast<std::size_t>(schedule_.workers)) {
      const std::vector<RunFolder>& job = jobs_[next_job_++];
      WorkerTask task{.folders = {}, .evaluation = schedule_.evaluation, .parent = getpid()};
      for (const RunFolder& run : job) task.folders.push_back(run.path().string());
      active_.emplace_back(program_, task, job, gpu_for(config_of(job, schedule_)));
    }
  }

  // Where the job names the GPU by number, its worker sees all.
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

  // Until one of them has written something or has ended, or for a moment.
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
    whole_.finish(worker.name(), report.end == JobEnd::kFailed || report.end == JobEnd::kUnwritable);
    has_failed_ |= report.end == JobEnd::kFailed;
    is_interrupted_ |= report.end == JobEnd::kInterrupted;
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
    if (has_failed_) return 1;
    if (next_job_ == jobs_.size()) return 0;
    print_progress(
        fmt::format("{} left; run the same command again.\n", counted(jobs_.size() - next_job_, "job")));
    return kExitAgain;
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
