#include "core/warning.h"

#include <fmt/core.h>

#include <cstdio>

namespace che {

void print_warning(const std::string& warning) { fmt::print(stderr, "che: warning: {}\n", warning); }

}  // namespace che
