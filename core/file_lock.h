#pragma once

#include <filesystem>

#include "core/descriptor.h"

namespace che {

// Holds the file `folder`/lock for this process while the object lives; the system lets go of it when the
// process ends, however it ends, so that no lock is ever stale.
class FileLock {
 public:
  // Creates the file where it is missing and writes process and host into it, then deletes the temporary
  // files that killed processes left in the folder. Throws Error (usage) that names the holder when another
  // process holds it; (runtime) when the file is a link or anything else but a regular file, which is left as
  // it is; and with the system's reason and its fault_of when the file cannot be made.
  explicit FileLock(const std::filesystem::path& folder);

  // Whether anybody holds it, without holding it even for a moment: looking disturbs no start.
  static bool is_held(const std::filesystem::path& folder);

 private:
  Descriptor file_;
};

// The name of the file in a folder.
inline constexpr const char* kLockFile = "lock";

}  // namespace che
