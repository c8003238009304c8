#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace che {

// The names of what is written next to `path` and then renamed to it: ".NAME.0123456789abcdef.tmp".

// A name that nothing has by chance. Throws Error (runtime) when the system has no random numbers.
std::string temporary_name(const std::filesystem::path& path);

// Whether temporary_name(path) can be this name.
bool is_temporary_name_of(const std::filesystem::path& path, std::string_view name);

// Whether it is a temporary name of any path, of other versions of the program too.
bool is_temporary_name(std::string_view name);

}  // namespace che
