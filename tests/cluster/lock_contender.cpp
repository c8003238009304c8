// A process that contends for the lock of a folder as one of another machine would, for two_hosts.py.
//   lock_contender FOLDER BOOT DEAD_SECONDS WORK_MILLISECONDS [--hang]
// Takes the lock, waiting for it, then notes "begin" and "end" with the host's name in FOLDER/log around its
// work; --hang ends it in between, without giving the lock back.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "core/error.h"
#include "core/file_lock.h"

namespace {

void note(const std::filesystem::path& folder, const std::string& line) {
  const int file = ::open((folder / "log").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || ::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  ::close(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::filesystem::path folder = argv[1];
  const che::LockTiming timing{.heartbeat_seconds = std::stod(argv[3]) / 10,
                               .dead_seconds = std::stod(argv[3])};
  const auto work = std::chrono::milliseconds(std::stoi(argv[4]));
  che::LockHolder own = che::this_process();
  own.boot = argv[2];
  const std::string name = fmt::format("{}:{}", own.host, own.process);
  try {
    std::optional<che::FileLock> lock;
    che::LockRefusal refusal;
    while (!(lock = che::FileLock::try_hold(folder, refusal, own, timing))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    note(folder, fmt::format("begin {}\n", name));
    if (argc > 5) _exit(3);
    std::this_thread::sleep_for(work);
    lock->check();
    note(folder, fmt::format("end {}\n", name));
  } catch (const che::Error& error) {
    note(folder, fmt::format("error {}: {}\n", name, error.what()));
    return 1;
  }
  return 0;
}
