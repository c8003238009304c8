#pragma once

#include <unistd.h>

#include <stdexcept>

namespace che {

// While it lives, the process has no rights beyond those of an ordinary user, root's in a container included,
// so that files can be made unreadable. The test's files belong to whom they belonged before.
class Unprivileged {
 public:
  Unprivileged() : user_(geteuid()) {
    constexpr uid_t kNobody = 65534;
    if (user_ == 0 && seteuid(kNobody) != 0) throw std::runtime_error("cannot give up root's rights");
  }
  ~Unprivileged() {
    // It was root's right before and is root's right again.
    if (seteuid(user_) != 0) _exit(1);
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  uid_t user_;
};

}  // namespace che
