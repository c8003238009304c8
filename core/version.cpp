#include "core/version.h"

#include "git_commit.h"

namespace che {

std::string program_version() { return CHE_VERSION; }

std::string git_commit() { return kGitCommit; }

}  // namespace che
