#pragma once

#include <filesystem>

namespace che {

// Holds the file at `path` for this process while the object lives; the system lets go of it when
// the process ends, however it ends, so that no lock is ever stale.
class FileLock {
 public:
  // Creates the file where it is missing and writes process and host into it. Throws Error (usage)
  // that names the holder when another process holds it, and with the system's reason and its fault_of
  // when the file cannot be made.
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();

  // Whether anybody holds it, without so much as a moment of holding it: a look disturbs no start.
  static bool is_held(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  FileLock& operator=(FileLock&&) = delete;

 private:
  int descriptor_;
};

}  // namespace che
