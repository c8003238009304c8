#include "core/version.h"

#include <unistd.h>

#include <array>

#include "git_commit.h"

namespace che {

std::string program_version() { return CHE_VERSION; }

std::string git_commit() { return kGitCommit; }

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "unknown";
}

}  // namespace che
