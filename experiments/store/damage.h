#pragma once

#include <filesystem>
#include <string>

namespace che {

// What a run with damaged files is called, and the ending of such files once they are set aside.
inline constexpr const char* kDamaged = "damaged";

// A stored file whose content is not what was written, or that is not a regular file, and what is wrong with
// it (naming the file). A file that the system does not let us read is not damaged.
struct Damage {
  std::filesystem::path file;
  std::string what;
};

// What is set aside, and by whom: readers move nothing. `che run` moves a damaged config.yaml while it holds
// the lock of the experiment; whoever holds the lock of a run (its worker, `che evaluate`) moves the run's
// other files. Nothing is deleted: the file is renamed to `file`.`ending`, .2, .3 ...

// Renames a file on behalf of the holder of the lock of `locked`, and returns the new path. Throws Error
// (runtime) when nobody holds that lock or the system refuses.
std::filesystem::path set_aside_locked(const std::filesystem::path& file, const char* ending,
                                       const std::filesystem::path& locked);

// Renames a damaged file so, and returns the warning: what is wrong and the new name.
std::string set_damage_aside(const Damage& damage, const std::filesystem::path& locked);

}  // namespace che
