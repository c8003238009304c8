#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace che {

inline bool has_program(const std::string& program) {
  return std::system(fmt::format("command -v {} > /dev/null 2>&1", program).c_str()) == 0;
}

}  // namespace che

// Skips the test if `program` is missing, which only readers of results need; fails it if CHE_NEED_VIEWERS is
// in the environment.
#define CHE_NEEDS_VIEWER(program)                                                               \
  do {                                                                                          \
    if (!che::has_program(program)) {                                                           \
      if (std::getenv("CHE_NEED_VIEWERS") != nullptr) FAIL() << program << " is not installed"; \
      GTEST_SKIP() << program << " is not installed";                                           \
    }                                                                                           \
  } while (false)
