#include "core/file_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "lock.";
// The first line. A lock is given back by writing one over the other, which no reader can see half.
constexpr std::string_view kHeld = "held\n";
constexpr std::string_view kFree = "free\n";
static_assert(kHeld.size() == kFree.size());

// No folder was locked that often; a greater number was written by somebody else.
constexpr std::uint64_t kMaxNumber = 1'000'000'000'000;
constexpr int kMaxAttempts = 1000;  // Each is lost to another process that got the lock.
constexpr std::chrono::milliseconds kPause{5};
constexpr std::chrono::seconds kLateEntry{1};  // Until a folder shows a file that was just made.
constexpr double kSilentHeartbeats = 3;

fs::path path_of(const fs::path& folder, std::uint64_t number) {
  return folder / fmt::format("{}{}", kPrefix, number);
}

std::optional<std::uint64_t> number_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::uint64_t number = 0;
  const auto [rest, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_own =
      problem == std::errc() && rest == name.data() + name.size() && name == std::to_string(number);
  return is_own && number <= kMaxNumber ? std::optional(number) : std::nullopt;
}

// The numbers of the lock's files in the folder, ascending. Throws Error when the system does not let us read
// it.
std::vector<std::uint64_t> numbers_in(const fs::path& folder) {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  for (const fs::path& entry : entries_of(folder, error)) {
    if (const auto number = number_of(entry.filename().string())) numbers.push_back(*number);
  }
  if (error) {
    throw Error(fmt::format("cannot lock '{}': {}", folder.string(), error.message()),
                error_kind_of(error.value()));
  }
  std::ranges::sort(numbers);
  return numbers;
}

// When the file was last written or touched, by the clock of its file system.
double touched(const Descriptor& file) {
  struct stat status {};
  if (::fstat(file.value(), &status) != 0) return 0;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

// The content of a lock's file.
struct LockState {
  std::string text;
  std::optional<LockHolder> holder;  // Nothing where the text was not written by FileLock.
  double touched = 0;

  bool is_free() const { return text.starts_with(kFree); }
};

// A lock that che writes is far shorter. A longer file is somebody else's, and its rest is not read.
constexpr std::size_t kMaxLockBytes = 4096;

// Nothing when the file is gone. Throws Error (runtime) for what is no regular file.
std::optional<LockState> read_state(const fs::path& path) {
  for (bool is_first = true;; is_first = false) {
    try {
      const Descriptor file = open_regular_file(path, O_RDONLY, "lock", ErrorKind::kRuntime, "; remove it");
      std::string text(kMaxLockBytes, 0);
      text.resize(read_part(file, path, text));
      LockState state{.text = std::move(text), .holder = {}, .touched = touched(file)};
      if (state.text.size() > kHeld.size()) state.holder = parse_lock_holder(state.text.substr(kHeld.size()));
      return state;
    } catch (const Error&) {
      if (!is_present(path)) return std::nullopt;
      if (!is_first) throw;  // The first time the handle may have been stale.
    }
  }
}

bool is_restarted_task(const LockHolder& holder, const LockHolder& asking) {
  return !asking.task.empty() && holder.task == asking.task && holder.restart < asking.restart;
}

// `age` is the time since the lock was touched, and less than 0 where its time lies ahead. A holder that
// lives touches it at the clock's time, so that a time far ahead is as much a silence as one long ago: the
// clock was set back since, or somebody else set the file's time.
bool is_gone(const LockState& state, const LockHolder& asking, double age, const LockTiming& timing) {
  if (state.is_free()) return true;
  const double silent_seconds = std::abs(age);
  if (!state.holder) return silent_seconds >= timing.dead_seconds;
  const LockHolder& holder = *state.holder;
  if (is_on_same_system(holder, asking)) return !is_running(holder);  // However long it was stopped.
  if (silent_seconds >= timing.dead_seconds || is_restarted_task(holder, asking)) return true;
  // Another machine of the same name would have been heard of.
  return holder.host == asking.host && holder.boot != asking.boot && silent_seconds > asking.up_seconds &&
         silent_seconds > kSilentHeartbeats * timing.heartbeat_seconds;
}

LockRefusal refusal_of(const fs::path& folder, const fs::path& file, const LockState& state,
                       const LockHolder& asking, double age, const LockTiming& timing) {
  const std::string who = state.holder ? describe(*state.holder) : "another process";
  LockRefusal refusal{
      .text = fmt::format("'{}' is in use by {}; wait for it to finish or stop it", folder.string(), who)};
  if (state.holder && is_on_same_system(*state.holder, asking)) return refusal;
  refusal.is_silent = std::abs(age) > kSilentHeartbeats * timing.heartbeat_seconds;
  refusal.text += fmt::format(
      " ({}; a process on another machine counts as dead after {:.0f} s; if you know that it is, run "
      "touch -d '1 hour ago' {})",
      age < -timing.heartbeat_seconds ? fmt::format("its file's time is {:.0f} s ahead", -age)
                                      : fmt::format("last heard of {:.0f} s ago", std::max(0.0, age)),
      timing.dead_seconds, shell_word(file.string()));
  return refusal;
}

void remove_others(const fs::path& folder, const std::vector<std::uint64_t>& numbers, std::uint64_t own) {
  std::error_code ignored;  // They are in nobody's way.
  for (const std::uint64_t number : numbers) {
    if (number < own) fs::remove(path_of(folder, number), ignored);
  }
}

// The locks that this process has.
class HeldLocks {
 public:
  static HeldLocks& instance() {
    static HeldLocks locks;
    return locks;
  }

  void add(const fs::path& folder, const LockFile& file) {
    const std::scoped_lock lock(mutex_);
    files_[key(folder)] = file;
  }
  void remove(const fs::path& folder, const LockFile& file) {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(key(folder));
    if (found != files_.end() && found->second == file) files_.erase(found);
  }
  std::optional<LockFile> file(const fs::path& folder) {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(key(folder));
    return found == files_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  // As the parent path of a file in the folder is spelled.
  static fs::path key(const fs::path& folder) { return (folder / kPrefix).parent_path(); }

  std::mutex mutex_;
  std::map<fs::path, LockFile> files_;
};

// Touches the file until it is asked to stop.
void beat(const std::stop_token& stop, int file, double seconds) {
  std::mutex mutex;
  std::condition_variable_any waiting;
  std::unique_lock lock(mutex);
  while (true) {
    waiting.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
    if (stop.stop_requested()) return;
    // Without a time given, the file system's clock counts. A file that is gone is found by check().
    static_cast<void>(::futimens(file, nullptr));
  }
}

// Throws Error (usage) when the newest lock of the folder is another one. Where a lock was removed, the next
// one has its number again.
void check_newest(const fs::path& folder, const LockFile& own) {
  std::vector<std::uint64_t> numbers = numbers_in(folder);
  if (numbers.empty() || numbers.back() < own.number) {
    std::this_thread::sleep_for(kLateEntry);
    numbers = numbers_in(folder);
  }
  std::string who = "another process";
  if (!numbers.empty() && numbers.back() >= own.number) {
    const auto state = read_state(path_of(folder, numbers.back()));
    if (state && numbers.back() == own.number && state->text == own.text) return;
    if (state && state->holder) who = describe(*state->holder);
  }
  throw Error(fmt::format(
      "'{}' was taken over by {}, as nothing was heard of this process or its lock was removed; it "
      "writes nothing more there",
      folder.string(), who));
}

}  // namespace

FileLock::FileLock(fs::path folder, LockFile own, Descriptor file, double heartbeat_seconds)
    : folder_(std::move(folder)),
      own_(std::move(own)),
      file_(std::move(file)),
      heartbeat_([descriptor = file_.value(), heartbeat_seconds](const std::stop_token& stop) {
        beat(stop, descriptor, heartbeat_seconds);
      }) {
  HeldLocks::instance().add(folder_, own_);
}

FileLock::FileLock(const fs::path& folder) {
  LockRefusal refusal;
  std::optional<FileLock> lock = try_hold(folder, refusal);
  if (!lock) throw Error(refusal.text);
  *this = std::move(*lock);
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(own_, other.own_);
  std::swap(file_, other.file_);
  std::swap(heartbeat_, other.heartbeat_);
  return *this;
}

FileLock::~FileLock() {
  if (!file_.is_open()) return;
  HeldLocks::instance().remove(folder_, own_);
  // Where it cannot be written, the lock is free with the end of this process.
  static_cast<void>(::pwrite(file_.value(), kFree.data(), kFree.size(), 0) < 0);
}

std::optional<FileLock> FileLock::try_hold(const fs::path& folder, LockRefusal& refusal,
                                           const LockHolder& holder, const LockTiming& timing) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(kPause);
    const std::vector<std::uint64_t> numbers = numbers_in(folder);
    const std::uint64_t newest = numbers.empty() ? 0 : numbers.back();
    if (newest == kMaxNumber) {
      throw Error(
          fmt::format("'{}' has the last number that a lock may have; remove it if no process works there",
                      path_of(folder, newest).string()));
    }
    const LockFile own{.number = newest + 1, .text = std::string(kHeld) + to_text(holder)};
    FileReplacement file(path_of(folder, own.number));
    file.write(own.text);
    bool is_taken_over = false;  // From a holder that may wake and write.
    if (newest > 0) {
      const fs::path path = path_of(folder, newest);
      const std::optional<LockState> state = read_state(path);
      if (!state) continue;
      static_cast<void>(::futimens(file.file().value(), nullptr));
      const double age = touched(file.file()) - state->touched;
      if (!is_gone(*state, holder, age, timing)) {
        refusal = refusal_of(folder, path, *state, holder, age, timing);
        return std::nullopt;
      }
      is_taken_over = !state->is_free();
    }
    if (!file.finish_new()) continue;
    // Somebody may have got further since, and have removed the file whose number is now used again.
    const std::vector<std::uint64_t> now = numbers_in(folder);
    if (!now.empty() && now.back() > own.number) {
      std::error_code ignored;
      fs::remove(path_of(folder, own.number), ignored);
      continue;
    }
    remove_others(folder, now, own.number);
    remove_temporary_files(folder, is_taken_over ? TemporaryFiles::kAll : TemporaryFiles::kOfTheDead);
    return FileLock(folder, own, file.take_file(), timing.heartbeat_seconds);
  }
  throw Error(
      fmt::format("cannot lock '{}': other processes get its lock again and again; if there are none, "
                  "remove its files lock.*",
                  folder.string()),
      ErrorKind::kRuntime);
}

void FileLock::check() const { check_newest(folder_, own_); }

void FileLock::check_held(const fs::path& folder) {
  if (const auto own = HeldLocks::instance().file(folder)) check_newest(folder, *own);
}

bool FileLock::is_held(const fs::path& folder) {
  try {
    const std::vector<std::uint64_t> numbers = numbers_in(folder);
    if (numbers.empty()) return false;
    const std::optional<LockState> state = read_state(path_of(folder, numbers.back()));
    if (!state || state->is_free()) return false;
    const double age = static_cast<double>(std::time(nullptr)) - state->touched;
    return !is_gone(*state, this_process(), age, LockTiming());
  } catch (const Error&) {
    return false;
  }
}

bool is_lock_file(std::string_view name) { return number_of(name).has_value(); }

}  // namespace che
