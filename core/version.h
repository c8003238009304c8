#pragma once

#include <string>

namespace che {

// The version of the program.
std::string program_version();

// The commit of the sources it was built from, with "-dirty" when they were changed since; "unknown" outside
// a git checkout.
std::string git_commit();

}  // namespace che
