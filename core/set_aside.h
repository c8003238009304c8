#pragma once

#include <filesystem>
#include <string_view>

namespace che {

// Renames a file to `path`.`ending`, or `path`.`ending`.2, .3 ... where that name is taken: nothing that was
// set aside before is lost. Returns the new path. Throws Error (runtime) when the system refuses.
std::filesystem::path set_aside(const std::filesystem::path& path, std::string_view ending);

}  // namespace che
