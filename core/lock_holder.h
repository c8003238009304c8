#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace che {

// A process that may hold locks, as the file of a lock names it.
struct LockHolder {
  std::string host;
  std::string boot;          // A text that the host's system drew when it started.
  std::string name_space;    // In which `process` counts; a container has its own.
  std::int64_t process = 0;  // Its number,
  std::int64_t start = 0;    // and when it started, in ticks of the system: numbers are used again.
  std::string task = {};     // The batch system's name of its task, the same after a restart; empty for none.
  std::int64_t restart = 0;  // How often that task was restarted.
  std::string since = {};    // UTC, ISO 8601; for people.
  double up_seconds = 0;     // Since the host's system started; of the process that asks, not stored.
};

// This process, as Slurm's variables and the system describe it.
LockHolder this_process();

// Lines of a name and a value each, and what they say; nothing for any other text.
std::string to_text(const LockHolder& holder);
std::optional<LockHolder> parse_lock_holder(std::string_view text);

// "process 12 on node3, task 7_1"
std::string describe(const LockHolder& holder);

// Whether `holder` counts its processes as `asking` does, so that the system knows whether it is there.
bool is_on_same_system(const LockHolder& holder, const LockHolder& asking);

// Whether the process of a holder on the same system is there.
bool is_running(const LockHolder& holder);

}  // namespace che
