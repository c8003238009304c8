#include "experiments/scheduling/worker_process.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/process.h"
#include "experiments/scheduling/stop_signal.h"

namespace che {

WorkerProcess::WorkerProcess(const std::filesystem::path& program, const WorkerTask& task,
                             const std::vector<RunFolder>& job, const std::optional<WorkerGpu>& gpu)
    : job_(&job), gpu_(gpu) {
  std::vector<std::string> words = task.arguments();
  words.insert(words.begin(), program.string());
  std::vector<std::string> environment;
  if (gpu && gpu->is_only_one_visible) environment.push_back("CUDA_VISIBLE_DEVICES=" + gpu->name);
  auto [read_end, write_end] = open_pipe();
  // In a process group of its own, so that Ctrl-C reaches workers through the scheduler only, and
  // with stop signals held back until the worker can turn them into a checkpoint.
  const StartedProcess started = start_process({.words = std::move(words),
                                                .descriptors = {{write_end.value(), STDOUT_FILENO}},
                                                .blocked_signals = stop_signals(),
                                                .environment = std::move(environment),
                                                .has_own_group = true});
  if (started.error != 0) {
    throw Error(fmt::format("cannot start a worker ({}): {}", program.string(), std::strerror(started.error)),
                ErrorKind::kRuntime);
  }
  process_ = started.process;
  output_ = std::move(read_end);
}

bool WorkerProcess::read_lines(const std::function<void(std::string_view)>& take) {
  std::array<char, 4096> buffer{};
  const ssize_t count = read(output_.value(), buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  partial_line_.append(buffer.data(), static_cast<std::size_t>(count));
  for (std::size_t end = 0; (end = partial_line_.find('\n')) != std::string::npos;) {
    take(std::string_view(partial_line_).substr(0, end));
    partial_line_.erase(0, end + 1);
  }
  return true;
}

void WorkerProcess::stop() const { kill(process_, SIGTERM); }

int WorkerProcess::wait() const { return wait_for_process(process_); }

}  // namespace che
