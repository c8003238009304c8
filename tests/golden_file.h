#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/files.h"

namespace che {

// Expects `text` to be the file tests/golden/`name`; with CHE_UPDATE_GOLDEN in the environment, writes it.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(CHE_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("CHE_UPDATE_GOLDEN") != nullptr) write_file_atomically(file, text);
  EXPECT_EQ(text, read_file(file))
      << "if the change is meant, run with CHE_UPDATE_GOLDEN=1 and read the diff";
}

}  // namespace che
