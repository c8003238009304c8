#include "experiments/scheduler.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/error.h"
#include "experiments/progress_display.h"
#include "experiments/stop_signal.h"

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

Worker start_worker(const std::vector<RunFolder>& job, const std::filesystem::path& program) {
  std::vector<std::string> words{program.string(), "worker"};
  for (const RunFolder& run : job) words.push_back(run.path().string());
  std::vector<char*> arguments;
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

// Passes what the worker said to `display`; returns false at the end of its output.
bool read_output(Worker& worker, ProgressDisplay& display) {
  std::array<char, 4096> buffer{};
  const ssize_t count = read(worker.output, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  worker.partial_line.append(buffer.data(), static_cast<std::size_t>(count));
  for (std::size_t end = 0; (end = worker.partial_line.find('\n')) != std::string::npos;) {
    if (const auto progress = parse_progress(std::string_view(worker.partial_line).substr(0, end))) {
      display.show(*progress);
    }
    worker.partial_line.erase(0, end + 1);
  }
  return true;
}

// How a job ended.
enum class Ending { kDone, kFailed, kInterrupted };

// What the end of a worker's process says that its runs' statuses may not; empty for an orderly end.
std::string death_of(int exit_status) {
  if (WIFSIGNALED(exit_status)) {
    return fmt::format("its process was ended by signal {} ({}); run again to resume", WTERMSIG(exit_status),
                       strsignal(WTERMSIG(exit_status)));
  }
  const int code = WEXITSTATUS(exit_status);
  return code == 0 || code == kExitAgain
             ? ""
             : fmt::format("its process ended with exit code {}; run again to resume", code);
}

// Prints a line about each run of an ended job.
Ending report_end(const Worker& worker, int exit_status, ProgressDisplay& display) {
  const std::string death = death_of(exit_status);
  Ending ending = death.empty() ? Ending::kDone : Ending::kFailed;
  for (const RunFolder& run : *worker.job) {
    std::string line;
    try {
      // Not a run that another process holds: its status is that process's to write.
      if (WIFSIGNALED(exit_status) || WEXITSTATUS(exit_status) == 1) run.mark_failed(death);
      const RunStatus status = run.status();
      line = fmt::format("{}: {}", run.id(), status.state);
      if (status.state == "failed") {
        ending = Ending::kFailed;
        line += ": " + status.error;
      } else if (status.state != "finished") {
        if (ending == Ending::kDone) ending = Ending::kInterrupted;
        if (!death.empty()) line += ": " + death;
      } else if (const auto mean = score(run.evaluation(), run.config().evaluation)) {
        line += fmt::format(", score {:.1f} % (mean accuracy over lengths {}..{}), {:.0f} s", 100 * *mean,
                            run.config().evaluation.first_length, run.config().evaluation.last_length,
                            status.training_seconds + status.evaluation_seconds);
      }
    } catch (const Error& error) {  // A full disk, say: the others go on.
      ending = Ending::kFailed;
      line = fmt::format("{}: failed: {}", run.id(), error.what());
    }
    display.finish(worker.name(), line);
  }
  return ending;
}

}  // namespace

int run_jobs(const std::vector<std::vector<RunFolder>>& jobs, std::int64_t workers,
             const std::filesystem::path& program) {
  catch_stop_signals();
  std::signal(SIGPIPE, SIG_IGN);  // Results do not need a reader of the progress.
  ProgressDisplay display;
  std::vector<Worker> active;
  std::size_t next_job = 0;
  bool any_failed = false;
  bool any_interrupted = false;
  bool told_to_stop = false;
  while (true) {
    const int signal = stop_signal().load();
    while (signal == 0 && next_job < jobs.size() && active.size() < static_cast<std::size_t>(workers)) {
      active.push_back(start_worker(jobs[next_job++], program));
    }
    if (active.empty()) break;
    if (signal != 0 && !told_to_stop) {
      for (const Worker& worker : active) kill(worker.process, SIGTERM);
      told_to_stop = true;
    }
    std::vector<pollfd> waiting;
    for (const Worker& worker : active) waiting.push_back({worker.output, POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), kPollMilliseconds) <= 0) continue;
    for (std::size_t i = waiting.size(); i-- > 0;) {
      if (waiting[i].revents == 0 || read_output(active[i], display)) continue;
      close(active[i].output);
      int exit_status = 0;
      while (waitpid(active[i].process, &exit_status, 0) < 0 && errno == EINTR) {
      }
      const Ending ending = report_end(active[i], exit_status, display);
      any_failed |= ending == Ending::kFailed;
      any_interrupted |= ending == Ending::kInterrupted;
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (any_interrupted || next_job < jobs.size()) {
    std::fputs("Interrupted; the same command goes on from the checkpoints.\n", stdout);
    return kExitAgain;
  }
  return any_failed ? 1 : 0;
}

}  // namespace che
