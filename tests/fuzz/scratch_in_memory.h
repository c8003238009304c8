#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace che {

// A folder for this process' inputs, in memory where the system has such a place.
inline std::filesystem::path scratch_in_memory() {
  const std::filesystem::path memory = "/dev/shm";
  const std::filesystem::path root =
      std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  return root / ("che-fuzz-" + std::to_string(getpid()));
}

}  // namespace che
