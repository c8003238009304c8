#include "core/descriptor.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace che {

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
  std::string result;
  std::array<char, 65536> buffer{};
  ::lseek(descriptor(), 0, SEEK_SET);
  for (ssize_t count; (count = ::read(descriptor(), buffer.data(), buffer.size())) > 0;) {
    result.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return result;
}

}  // namespace che
