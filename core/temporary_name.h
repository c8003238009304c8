#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace che {

// Throws Error (usage) for a path with a NUL character. The system would take the part before it for the name
// of another file.
void check_name(const std::filesystem::path& path);

// What is written next to `path`, to be renamed to it, is called ".NAME.0123456789abcdef.tmp".

// Returns a name that nothing has by chance. Throws Error when `path` has a NUL character (usage) and
// when the system has no random numbers (runtime).
std::string temporary_name(const std::filesystem::path& path);

// Returns whether temporary_name(path) can be this name.
bool is_temporary_name_of(const std::filesystem::path& path, std::string_view name);

// Returns whether it is a temporary name of any path, of other versions of the program too.
bool is_temporary_name(std::string_view name);

}  // namespace che
