#pragma once

#include <cerrno>
#include <functional>
#include <stdexcept>
#include <string>

namespace che {

// The kind of an error; decides the exit code of the program.
enum class ErrorKind {
  kUsage,    // The command line, a config or a file the user named: exit code 2.
  kRuntime,  // The machine or the computation (disk full, loss not finite): exit code 1.
};

// Maps an errno to an error kind: kUsage if the path is wrong, kRuntime if the disk, permissions or memory
// failed.
inline ErrorKind error_kind_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EEXIST:
    case ELOOP:
    case ENAMETOOLONG:
      return ErrorKind::kUsage;
    default:
      return ErrorKind::kRuntime;
  }
}

// The one exception type of the project. The message is one line for a user: what is wrong, where
// (file, line, key path), what is allowed and what to do about it.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ErrorKind kind = ErrorKind::kUsage)
      : std::runtime_error(message), kind_(kind) {}

  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// A disk is full, or a quota is used up.
class NoRoom : public Error {
 public:
  explicit NoRoom(const std::string& message) : Error(message, ErrorKind::kRuntime) {}
};

// Is told, in one line, of something that a user should know and that stops nothing.
using WarningSink = std::function<void(const std::string&)>;

// "che: warning: ..." on standard error.
void print_warning(const std::string& warning);

}  // namespace che
