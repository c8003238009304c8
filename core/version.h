#pragma once

#include <string>
#include <string_view>

namespace che {

// The version of the program.
std::string program_version();

// The commit of the sources it was built from, with "-dirty" when they were changed since; "unknown" outside
// a git checkout.
std::string git_commit();

// Whether a program, the content of its file, was built from the same version and commit as this one.
bool is_of_this_build(std::string_view program);

}  // namespace che
