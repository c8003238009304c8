#include "experiments/training/run_lock.h"

#include <thread>

#include "core/clock.h"
#include "core/error.h"

namespace che {

FileLock lock_run(const RunFolder& run, const std::atomic<int>& stop, std::chrono::seconds patience) {
  const Clock::time_point start = Clock::now();
  while (true) {
    try {
      return FileLock(run.path());
    } catch (const Error& error) {
      if (error.fault() == Fault::kRuntime || stop.load() != 0 || Clock::now() - start >= patience) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace che
