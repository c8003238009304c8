#pragma once

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/descriptor.h"

namespace che {

// A program to start. It has the caller's descriptors 0, 1, 2 and those in `descriptors`, as long as all
// others were opened with O_CLOEXEC.
struct ProcessPlan {
  std::vector<std::string> words = {};  // Program and arguments; a name without slash is on the PATH.
  std::vector<std::pair<int, int>> descriptors = {};  // (of the caller, in the program)
  std::optional<sigset_t> blocked_signals = {};       // The caller's unless given.
  std::vector<std::string> environment = {};          // "NAME=value"; the rest is the caller's.
  bool has_own_group = false;                         // A terminal's Ctrl-C does not reach it.
};

// The new process, or the system's error number with process 0.
struct StartedProcess {
  pid_t process = 0;
  int error = 0;
};
StartedProcess start_process(const ProcessPlan& plan);

// Waits for the end of a child; its status as waitpid gives it, or -1 with errno set.
int wait_for_process(pid_t process);

// A finished program: its output and how it ended.
struct ProgramOutput {
  int exit_code = 0;  // 128 and the signal's number where a signal ended it.
  std::string output;
  std::string messages;  // Its standard error.
};

// Runs a program to its end, without input. Throws Error (runtime) when it cannot be started: with the
// remedy where it is not on the PATH. `environment` is that of ProcessPlan.
ProgramOutput run_program(const std::vector<std::string>& words,
                          const std::vector<std::string>& environment = {});

// A pipe's read end and write end, closed in programs that are started. Throws Error (runtime) with the
// system's reason.
std::pair<Descriptor, Descriptor> open_pipe();

// The name of this machine.
std::string host_name();

// Its processor, as the system calls it: "AMD EPYC (family 25, model 1)", since processors of several kinds
// have one name on hosted machines. Empty where the system does not say.
std::string processor_name();

// Whether the system lists a feature of its processor, by the system's name for it, such as "avx512_bf16".
bool processor_has(std::string_view feature);

// The last of the stop signals (SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP) that this process was sent; 0 for
// none.
const std::atomic<int>& stop_signal();

// Makes these signals set stop_signal() and do nothing else. Unblocks them. A SIGHUP that is ignored, as
// under nohup, stays ignored.
void catch_stop_signals();

// The set of stop signals, which a process may start with blocked.
sigset_t stop_signals();

// Exit code of a process that was told to stop and did so at a checkpoint: "again".
inline constexpr int kExitAgain = 75;

}  // namespace che
