#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"

namespace che {

// A folder for this process' inputs, in memory where the system has such a place.
inline std::filesystem::path scratch_in_memory() {
  const std::filesystem::path memory = "/dev/shm";
  const std::filesystem::path root =
      std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  return root / ("che-fuzz-" + std::to_string(getpid()));
}

// A file there, which is removed at the end of the process.
inline std::filesystem::path file_in_memory(const char* name) {
  std::filesystem::create_directories(scratch_in_memory());
  std::atexit([] { std::filesystem::remove_all(scratch_in_memory()); });
  return scratch_in_memory() / name;
}

// Ends the process where `action` refuses its input in another way than by a message of one line.
template <class Action>
void refuse_or_do(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
}

}  // namespace che
