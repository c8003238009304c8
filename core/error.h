#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>

namespace che {

// Whose fault an error is; decides the exit code of the program.
enum class Fault {
  kUsage,    // The command line, a config or a file the user named: exit code 2.
  kRuntime,  // The machine or the computation (disk full, loss not finite): exit code 1.
};

// Of a call that the system refused with this `errno`: usage where the path names nothing fit, runtime where
// disk, rights or memory do not serve.
inline Fault fault_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EEXIST:
    case ELOOP:
    case ENAMETOOLONG:
      return Fault::kUsage;
    default:
      return Fault::kRuntime;
  }
}

// The one exception type of the project. The message is one line for a user: what is wrong, where
// (file, line, key path), what is allowed and how to mend it.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, Fault fault = Fault::kUsage)
      : std::runtime_error(message), fault_(fault) {}

  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

}  // namespace che
