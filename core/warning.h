#pragma once

#include <functional>
#include <string>

namespace che {

// Is told, in one line, of something that a user should know and that stops nothing.
using WarningSink = std::function<void(const std::string&)>;

// "che: warning: ..." on standard error.
void print_warning(const std::string& warning);

}  // namespace che
