#pragma once

#include <filesystem>

#include "core/descriptor.h"

namespace che {

// Makes a folder at a path where there is none, whole or not at all: what is written below begun(), next to
// the path, is renamed to it by `finish`, and removed with the object otherwise. What a killed process left
// of the same path is removed by the next one that makes it, if the file system can lock folders. Where locks
// are not shared between machines, two machines that make the same path at the same time can remove each
// other's: `finish` then fails on one of them.
class NewFolder {
 public:
  // The folder around `path` exists. Throws Error (runtime) with the system's reason.
  explicit NewFolder(std::filesystem::path path);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& begun() const { return begun_; }
  // Throws Error (runtime) with the system's reason, such as that there is something at the path by now.
  void finish();

 private:
  std::filesystem::path path_;
  std::filesystem::path begun_;
  Descriptor folder_;  // At begun_. Locked, so that others know it from those of killed processes.
  bool is_finished_ = false;
};

}  // namespace che
