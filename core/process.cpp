#include "core/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "core/error.h"

extern char** environ;

namespace che {
namespace {

constexpr std::array kStopSignals{SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP};

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

void note(int signal) { caught.store(signal); }

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size());
  for (std::string& text : texts) pointers.push_back(text.data());
  return pointers;
}

// The caller's variables but those that `added` replaces, and these.
std::vector<char*> environment_with(std::vector<std::string>& added) {
  std::vector<char*> environment = pointers_to(added);
  const auto is_replaced = [&](std::string_view variable) {
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    return std::ranges::any_of(added, [&](const std::string& one) { return one.starts_with(name); });
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_replaced(*variable)) environment.push_back(*variable);
  }
  return environment;
}

// Returns what the system says about its processor under `name`; empty where it says nothing.
std::string processor_entry(std::string_view name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos || !line.starts_with(name)) continue;
    if (line.find_first_not_of(" \t", name.size()) == colon) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

StartedProcess start_process(const ProcessPlan& plan) {
  std::vector<std::string> words = plan.words;
  std::vector<char*> arguments = pointers_to(words);
  arguments.push_back(nullptr);
  std::vector<std::string> added = plan.environment;
  std::vector<char*> environment = environment_with(added);
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const auto& [from, to] : plan.descriptors) posix_spawn_file_actions_adddup2(&actions, from, to);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  int flags = plan.has_own_group ? POSIX_SPAWN_SETPGROUP : 0;
  if (plan.blocked_signals) {
    flags |= POSIX_SPAWN_SETSIGMASK;
    posix_spawnattr_setsigmask(&attributes, &*plan.blocked_signals);
  }
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  StartedProcess started;
  started.error = ::posix_spawnp(&started.process, arguments.front(), &actions, &attributes, arguments.data(),
                                 environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (started.error != 0) started.process = 0;
  return started;
}

int wait_for_process(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

ProgramOutput run_program(const std::vector<std::string>& words,
                          const std::vector<std::string>& environment) {
  const MemoryFile input("input");
  const MemoryFile output("output");
  const MemoryFile messages("messages");
  const StartedProcess started = start_process({.words = words,
                                                .descriptors = {{input.descriptor(), STDIN_FILENO},
                                                                {output.descriptor(), STDOUT_FILENO},
                                                                {messages.descriptor(), STDERR_FILENO}},
                                                .environment = environment});
  if (started.error != 0) {
    throw Error(fmt::format("cannot start {}: {}", words.front(),
                            started.error == ENOENT ? "it is not on the PATH; install it"
                                                    : std::strerror(started.error)),
                ErrorKind::kRuntime);
  }
  const int status = wait_for_process(started.process);
  if (status < 0) {
    throw Error(fmt::format("lost {}: {}", words.front(), std::strerror(errno)), ErrorKind::kRuntime);
  }
  return {.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
          .output = output.text(),
          .messages = messages.text()};
}

std::pair<Descriptor, Descriptor> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(fmt::format("cannot open a pipe: {}", std::strerror(errno)), ErrorKind::kRuntime);
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "unknown";
}

std::string processor_name() {
  const std::string family = processor_entry("cpu family");
  const std::string name = processor_entry("model name");
  return family.empty() ? name
                        : fmt::format("{} (family {}, model {})", name, family, processor_entry("model"));
}

bool processor_has(std::string_view feature) {
  return fmt::format(" {} ", processor_entry("flags")).find(fmt::format(" {} ", feature)) !=
         std::string::npos;
}

const std::atomic<int>& stop_signal() { return caught; }

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note;
  for (const int signal : kStopSignals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    const bool is_nohup = signal == SIGHUP && before.sa_handler == SIG_IGN;
    if (!is_nohup) sigaction(signal, &action, nullptr);
  }
  const sigset_t signals = stop_signals();
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kStopSignals) sigaddset(&signals, signal);
  return signals;
}

}  // namespace che
