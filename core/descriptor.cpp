#include "core/descriptor.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/files.h"

namespace che {

bool LineReader::read(const std::function<void(std::string_view)>& take) {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(from_.value(), buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  partial_line_.append(buffer.data(), static_cast<std::size_t>(count));
  for (std::size_t end = 0; (end = partial_line_.find('\n')) != std::string::npos;) {
    take(std::string_view(partial_line_).substr(0, end));
    partial_line_.erase(0, end + 1);
  }
  return true;
}

bool lock_whole_file(const Descriptor& file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file.value(), F_OFD_SETLK, &lock) == 0;
}

MemoryFile::MemoryFile(const char* name) : file_(::memfd_create(name, MFD_CLOEXEC)) {
  if (!file_.is_open()) {
    throw Error(fmt::format("cannot make a file in memory: {}", std::strerror(errno)), ErrorKind::kRuntime);
  }
}

std::string MemoryFile::text() const {
  ::lseek(descriptor(), 0, SEEK_SET);
  return read_open_file(file_, "a file in memory");
}

}  // namespace che
