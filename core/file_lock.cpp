#include "core/file_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "core/error.h"
#include "core/files.h"
#include "core/process.h"

namespace che {
FileLock::FileLock(const std::filesystem::path& folder)
    : file_(open_regular_file(folder / kLockFile, O_RDWR | O_CREAT, "lock", Fault::kRuntime, "; remove it")) {
  if (!lock_whole_file(file_)) {
    if (errno != EAGAIN && errno != EACCES) {
      throw Error(fmt::format("cannot lock '{}': {}", (folder / kLockFile).string(), std::strerror(errno)),
                  fault_of(errno));
    }
    std::array<char, 300> holder{};
    const ssize_t count = ::pread(file_.value(), holder.data(), holder.size() - 1, 0);
    throw Error(fmt::format("'{}' is in use by {}; wait for it to finish or stop it", folder.string(),
                            count > 0 ? holder.data() : "another process"));
  }
  // A failure would only cost the name in the message to a process that is refused.
  const std::string holder = fmt::format("process {} on {}", ::getpid(), host_name());
  static_cast<void>(::ftruncate(file_.value(), 0) == 0 &&
                    ::pwrite(file_.value(), holder.data(), holder.size(), 0) > 0);
  remove_temporary_files(folder);
}

bool FileLock::is_held(const std::filesystem::path& folder) {
  try {
    return is_locked_elsewhere(open_regular_file(folder / kLockFile, O_RDONLY, "read", Fault::kRuntime));
  } catch (const Error&) {
    return false;
  }
}

}  // namespace che
