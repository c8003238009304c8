#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/descriptor.h"
#include "core/lock_holder.h"

namespace che {

// How often the holder of a lock shows that it is alive, and after how long a silence it is taken for dead
// where no system can be asked.
struct LockTiming {
  double heartbeat_seconds = 60;
  double dead_seconds = 15 * 60.0;
};

// Why a lock was not given.
struct LockRefusal {
  std::string text;        // For a user: who holds it, and what to do.
  bool is_silent = false;  // Its holder is on another machine, and nothing is heard of it.
};

// Describes the file of a lock by its number and by what it says while the lock is held.
struct LockFile {
  std::uint64_t number = 0;
  std::string text;

  bool operator==(const LockFile&) const = default;
};

// Holds a folder for this process while the object lives, against processes on all machines that see the
// folder. The lock is a file `folder`/lock.N that names its holder, and the highest N counts. It needs no
// locks of the file system, because some network file systems have none and on others they do not hold
// between machines. link(2) makes the file, so that each N has one maker. A process that finds N free or its
// holder gone makes N + 1. The holder touches its file every minute. It is gone if one of these is true:
//  - The system that it runs on says so. This needs the same host, start of the system and process namespace.
//  - We are the same task of a batch system, restarted since.
//  - It was on this host, and the host has started again since it was heard of.
//  - Nothing was heard of it for 15 minutes, or its file's time is as far ahead.
// The last one goes by the file system's clock: the file's time is compared with that of a file which is
// written now, never with this machine's clock.
class FileLock {
 public:
  // Takes the lock, then deletes the temporary files that killed processes left in the folder. Throws Error:
  //  - (usage) that names the holder, when another process holds it;
  //  - (runtime) when the newest file is a link or no regular file, which is left as it is;
  //  - (runtime) where the file system has no hard links;
  //  - with the system's reason and its error_kind_of, when the file cannot be made.
  explicit FileLock(const std::filesystem::path& folder);

  // Takes the lock likewise. When another process holds it, it returns nothing, and `refusal` says why.
  static std::optional<FileLock> try_hold(const std::filesystem::path& folder, LockRefusal& refusal,
                                          const LockHolder& holder = this_process(),
                                          const LockTiming& timing = {});

  ~FileLock();
  FileLock(FileLock&& other) noexcept = default;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // Throws Error (usage) that says who has the lock when it is not ours any more. Then this process was
  // silent for so long that another one took over, or the file was removed. It must not write into the folder
  // again.
  void check() const;
  // Does this for the lock that this process has on `folder`, if it has one. Every FileReplacement there does
  // it before its file gets its name. Who takes a lock over removes the temporary files, so that a process
  // that sleeps in between replaces nothing when it wakes.
  static void check_held(const std::filesystem::path& folder);

  // Whether anybody holds it, without holding it even for a moment: looking disturbs no start. It writes
  // nothing, so that it judges a holder on another machine by this machine's clock. It is meant for what is
  // shown to people.
  static bool is_held(const std::filesystem::path& folder);

 private:
  FileLock(std::filesystem::path folder, LockFile own, Descriptor file, double heartbeat_seconds);

  std::filesystem::path folder_;
  LockFile own_;
  Descriptor file_;
  std::jthread heartbeat_;  // Ends before its file is closed.
};

// Whether a file in a folder is its lock's.
bool is_lock_file(std::string_view name);

}  // namespace che
