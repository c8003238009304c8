#include "experiments/training/run_lock.h"

#include <fmt/core.h>

#include <optional>
#include <thread>
#include <utility>

#include "core/clock.h"
#include "core/error.h"

namespace che {

FileLock lock_run(const RunFolder& run, const ProgressSink& progress, const std::atomic<int>& stop,
                  std::chrono::seconds patience) {
  const Clock::time_point start = Clock::now();
  bool is_told = false;
  while (true) {
    LockRefusal refusal;
    std::optional<FileLock> lock = FileLock::try_hold(run.path(), refusal);
    if (lock) return *std::move(lock);
    if (stop.load() != 0 || (!refusal.is_silent && Clock::now() - start >= patience)) {
      throw Error(refusal.text);
    }
    if (refusal.is_silent && !is_told) {
      progress(warning_about(run.id(), fmt::format("waiting: {}", refusal.text)));
      is_told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(refusal.is_silent ? 1000 : 100));
  }
}

}  // namespace che
