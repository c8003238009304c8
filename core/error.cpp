#include "core/error.h"

#include <fmt/core.h>

#include <cstdio>

#include "core/text.h"

namespace che {

void print_warning(const std::string& warning) {
  // A standard error that cannot be written stops nothing.
  std::fputs(fmt::format("che: warning: {}\n", one_line(warning, kWholeText)).c_str(), stderr);
}

}  // namespace che
