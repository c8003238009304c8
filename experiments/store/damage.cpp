#include "experiments/store/damage.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file_lock.h"
#include "core/files.h"

namespace che {

std::filesystem::path set_aside_locked(const std::filesystem::path& file, const char* ending,
                                       const std::filesystem::path& locked) {
  if (!FileLock::is_held(locked)) {
    throw Error(fmt::format("'{}' may be moved only by the holder of the lock of '{}'", file.string(),
                            locked.string()),
                ErrorKind::kRuntime);
  }
  return set_aside(file, ending);
}

std::string set_damage_aside(const Damage& damage, const std::filesystem::path& locked) {
  const std::filesystem::path aside = set_aside_locked(damage.file, kDamaged, locked);
  return fmt::format("{} (now {})", damage.what, aside.filename().string());
}

}  // namespace che
