#include "core/descriptor.h"

#include <fcntl.h>

namespace che {
namespace {

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

bool lock_whole_file(const Descriptor& file) {
  struct flock lock = whole_file();
  return ::fcntl(file.value(), F_OFD_SETLK, &lock) == 0;
}

bool is_locked_elsewhere(const Descriptor& file) {
  struct flock lock = whole_file();
  return ::fcntl(file.value(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace che
