#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/files.h"

namespace che {

// Whether CHE_UPDATE_GOLDEN=1 is in the environment: tests then write what they expect.
inline bool updates_golden() {
  const char* const update = std::getenv("CHE_UPDATE_GOLDEN");
  return update != nullptr && std::string_view(update) == "1";
}

// Expects `text` to be the file tests/golden/`name`, or writes that file if updates_golden().
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(CHE_SOURCE_DIR) / "tests/golden" / name;
  if (updates_golden()) write_file_atomically(file, text);
  EXPECT_EQ(text, read_file(file))
      << "if the change is meant, run with CHE_UPDATE_GOLDEN=1 and read the diff";
}

}  // namespace che
