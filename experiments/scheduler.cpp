#include "experiments/scheduler.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "core/clock.h"
#include "core/counted.h"
#include "core/error.h"
#include "experiments/progress_display.h"
#include "experiments/stop_signal.h"
#include "experiments/sweep_progress.h"

extern char** environ;

namespace che {
namespace {

constexpr int kPollMilliseconds = 200;

// A worker process and the job it works on.
struct Worker {
  pid_t process = 0;
  int output = -1;  // Read end of its standard output.
  std::string partial_line;
  const std::vector<RunFolder>* job = nullptr;

  std::string name() const { return job->front().id(); }
};

Worker start_worker(const std::vector<RunFolder>& job, const Schedule& schedule,
                    const std::filesystem::path& program) {
  std::vector<std::string> words{program.string(), "worker", "--parent", std::to_string(getpid())};
  if (const auto& asked = schedule.evaluation) {
    words.insert(
        words.end(),
        {"--lengths", fmt::format("{}:{}:{}", asked->lengths.first, asked->lengths.last, asked->lengths.step),
         "--samples", std::to_string(asked->samples)});
  }
  for (const RunFolder& run : job) words.push_back(run.path().string());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(fmt::format("cannot open a pipe to a worker: {}", std::strerror(errno)), Fault::kRuntime);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  // In a process group of its own, so that Ctrl-C reaches workers through the scheduler only, and
  // with stop signals held back until the worker can turn them into a checkpoint.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const sigset_t held_back = stop_signals();
  posix_spawnattr_setsigmask(&attributes, &held_back);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  Worker worker{.output = ends[0], .partial_line = {}, .job = &job};
  const int failure =
      posix_spawn(&worker.process, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failure != 0) {
    close(ends[0]);
    throw Error(fmt::format("cannot start a worker ({}): {}", program.string(), std::strerror(failure)),
                Fault::kRuntime);
  }
  return worker;
}

// Passes on what the worker said; returns false at the end of its output.
bool read_output(Worker& worker, ProgressDisplay& display, SweepProgress& whole) {
  std::array<char, 4096> buffer{};
  const ssize_t count = read(worker.output, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  worker.partial_line.append(buffer.data(), static_cast<std::size_t>(count));
  for (std::size_t end = 0; (end = worker.partial_line.find('\n')) != std::string::npos;) {
    if (const auto progress = parse_progress(std::string_view(worker.partial_line).substr(0, end))) {
      whole.update(*progress);
      display.show(*progress);
    }
    worker.partial_line.erase(0, end + 1);
  }
  return true;
}

// How a job ended; kUnwritable: its results could not be stored.
enum class Ending { kDone, kFailed, kInterrupted, kUnwritable };

// What the end of a worker's process says that its runs' statuses may not; empty for an orderly end.
std::string death_of(int exit_status) {
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

std::string score_text(const RunFolder& run, const EvaluationConfig& evaluation) {
  const auto mean = score(run.evaluation(), evaluation);
  if (!mean) return "";
  return fmt::format(", score {:.1f} % (mean accuracy over lengths {}..{})", 100 * *mean,
                     evaluation.first_length, evaluation.last_length);
}

// A line about a run whose worker trained and evaluated it.
std::string training_line(const RunFolder& run, int exit_status, const std::string& death, Ending& ending) {
  // Not a run that another process holds: its status is that process's to write.
  if (WIFSIGNALED(exit_status) || WEXITSTATUS(exit_status) == 1) run.mark_failed(death);
  const RunStatus status = run.status();
  std::string line = fmt::format("{}: {}", run.id(), status.state);
  if (status.state == "failed") {
    ending = Ending::kFailed;
    return line + ": " + status.error;
  }
  if (status.state == "finished") {
    return line + score_text(run, run.config().evaluation) +
           fmt::format(", {:.0f} s", status.training_seconds + status.evaluation_seconds);
  }
  if (ending == Ending::kDone) ending = Ending::kInterrupted;
  return death.empty() ? line : line + ": " + death;
}

// A line about a run whose worker evaluated its stored model.
std::string evaluation_line(const RunFolder& run, const EvaluationRequest& asked, int exit_status,
                            const std::string& death, Ending& ending) {
  const std::string text = score_text(run, asked.applied_to(run.config().evaluation));
  if (WIFEXITED(exit_status) && WEXITSTATUS(exit_status) == 1) {
    return fmt::format("{}: not evaluated: see the warning above", run.id());
  }
  if (!death.empty()) return fmt::format("{}: not evaluated: {}", run.id(), death);
  if (text.empty()) ending = Ending::kInterrupted;
  return fmt::format("{}: {}", run.id(), text.empty() ? "interrupted" : "evaluated" + text);
}

// Prints a line about each run of an ended job.
Ending report_end(const Worker& worker, int exit_status, const Schedule& schedule, ProgressDisplay& display) {
  const std::string death = death_of(exit_status);
  Ending ending = death.empty() ? Ending::kDone : Ending::kFailed;
  for (const RunFolder& run : *worker.job) {
    std::string line;
    try {
      line = schedule.evaluation ? evaluation_line(run, *schedule.evaluation, exit_status, death, ending)
                                 : training_line(run, exit_status, death, ending);
    } catch (const Error& error) {
      ending = error.fault() == Fault::kRuntime ? Ending::kUnwritable : Ending::kFailed;
      line = fmt::format("{}: failed: {}", run.id(), error.what());
    }
    display.finish(worker.name(), line);
    if (ending == Ending::kUnwritable) break;
  }
  return ending;
}

}  // namespace

EvaluationConfig EvaluationRequest::applied_to(EvaluationConfig config) const {
  config.first_length = lengths.first;
  config.last_length = lengths.last;
  config.length_step = lengths.step;
  config.samples = samples;
  return config;
}

std::int64_t default_workers(const std::vector<RunConfig>& runs) {
  constexpr double kWorkerGib = 2;  // Beside evaluation's activations: LibTorch, parameters, training.
  const double memory_gib =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 0x1p30;
  std::int64_t most_threads = 1;
  double most_gib = 0;
  for (const RunConfig& run : runs) {
    most_threads = std::max(most_threads, run.execution.threads);
    most_gib = std::max(most_gib, run.execution.memory_gib);
  }
  const std::int64_t by_cores = std::thread::hardware_concurrency() / most_threads;
  const auto by_memory = static_cast<std::int64_t>(memory_gib / (most_gib + kWorkerGib));
  return std::max<std::int64_t>(1, std::min(by_cores, by_memory));
}

int run_jobs(const std::vector<std::vector<RunFolder>>& jobs, const Schedule& schedule,
             const std::filesystem::path& program) {
  catch_stop_signals();
  std::signal(SIGPIPE, SIG_IGN);  // Results do not need a reader of the progress.
  ProgressDisplay display;
  SweepProgress whole(jobs, schedule.evaluation);
  const Clock::time_point start = Clock::now();
  const std::size_t job_limit = schedule.max_jobs > 0
                                    ? std::min(jobs.size(), static_cast<std::size_t>(schedule.max_jobs))
                                    : jobs.size();
  std::vector<Worker> active;
  std::size_t next_job = 0;
  bool any_failed = false;
  bool any_interrupted = false;
  bool unwritable = false;
  bool told_to_stop = false;
  while (true) {
    const bool stop = stop_signal().load() != 0 || unwritable;
    while (!stop && next_job < job_limit && active.size() < static_cast<std::size_t>(schedule.workers)) {
      active.push_back(start_worker(jobs[next_job++], schedule, program));
    }
    if (active.empty()) break;
    if (stop && !told_to_stop) {
      for (const Worker& worker : active) kill(worker.process, SIGTERM);
      told_to_stop = true;
    }
    display.show_total(whole.describe(seconds_since(start)));
    std::vector<pollfd> waiting;
    waiting.reserve(active.size());
    for (const Worker& worker : active) waiting.push_back({worker.output, POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), kPollMilliseconds) <= 0) continue;
    for (std::size_t i = waiting.size(); i-- > 0;) {
      if (waiting[i].revents == 0 || read_output(active[i], display, whole)) continue;
      close(active[i].output);
      int exit_status = 0;
      while (waitpid(active[i].process, &exit_status, 0) < 0 && errno == EINTR) {
      }
      const Ending ending = report_end(active[i], exit_status, schedule, display);
      whole.finish(active[i].name(), ending == Ending::kFailed || ending == Ending::kUnwritable);
      any_failed |= ending == Ending::kFailed;
      any_interrupted |= ending == Ending::kInterrupted;
      unwritable |= ending == Ending::kUnwritable;
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (unwritable) {
    std::fputs(
        "Stopped: results cannot be read or written. What is finished is kept; free space or make the folder "
        "writable, "
        "and the same command goes on.\n",
        stdout);
    return 1;
  }
  if (any_interrupted || (stop_signal().load() != 0 && next_job < job_limit)) {
    std::fputs("Interrupted; the same command goes on from the checkpoints.\n", stdout);
    return kExitAgain;
  }
  if (any_failed) return 1;
  if (next_job == jobs.size()) return 0;
  fmt::print("{} left; the same command goes on.\n", counted(jobs.size() - next_job, "job"));
  return kExitAgain;
}

}  // namespace che
