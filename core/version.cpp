#include "core/version.h"

#include "git_commit.h"

namespace che {
namespace {

// The file of each program contains this text, for which is_of_this_build() looks.
constexpr std::string_view kStamp = "<che " CHE_VERSION " of commit " CHE_GIT_COMMIT ">";

}  // namespace

std::string program_version() { return CHE_VERSION; }

std::string git_commit() { return CHE_GIT_COMMIT; }

bool is_of_this_build(std::string_view program) { return program.find(kStamp) != std::string_view::npos; }

}  // namespace che
