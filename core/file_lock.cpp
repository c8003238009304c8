#include "core/file_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/version.h"

namespace che {
namespace {

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) {
    throw Error(fmt::format("cannot lock '{}': {}", path.string(), std::strerror(errno)), fault_of(errno));
  }
  struct flock lock = whole_file();
  if (::fcntl(descriptor_, F_OFD_SETLK, &lock) != 0) {
    const int reason = errno;
    if (reason != EAGAIN && reason != EACCES) {
      ::close(descriptor_);
      throw Error(fmt::format("cannot lock '{}': {}", path.string(), std::strerror(reason)),
                  fault_of(reason));
    }
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

bool FileLock::is_held(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock lock = whole_file();
  const bool held = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(descriptor);
  return held;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace che
