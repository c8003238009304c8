#include "core/file_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/version.h"

namespace che {

FileLock::FileLock(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) {
    throw Error(fmt::format("cannot lock '{}': {}", path.string(), std::strerror(errno)));
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 300> holder{};
    const ssize_t count = ::pread(descriptor_, holder.data(), holder.size() - 1, 0);
    ::close(descriptor_);
    throw Error(fmt::format("'{}' is being worked on by {}; wait for it or stop it",
                            path.parent_path().string(), count > 0 ? holder.data() : "another process"));
  }
  // A failure would only cost the name in the message to a process that is refused.
  const std::string holder = fmt::format("process {} on {}", ::getpid(), host_name());
  static_cast<void>(::ftruncate(descriptor_, 0) == 0 &&
                    ::pwrite(descriptor_, holder.data(), holder.size(), 0) > 0);
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace che
