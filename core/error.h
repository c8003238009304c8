#pragma once

#include <stdexcept>
#include <string>

namespace che {

// Whose fault an error is; decides the exit code of the program.
enum class Fault {
  kUsage,    // The command line, a config or a file the user named: exit code 2.
  kRuntime,  // The machine or the computation (disk full, loss not finite): exit code 1.
};

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
