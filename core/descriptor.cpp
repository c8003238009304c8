#include "core/descriptor.h"

#include <fcntl.h>

namespace che {

bool lock_whole_file(const Descriptor& file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file.value(), F_OFD_SETLK, &lock) == 0;
}

}  // namespace che
