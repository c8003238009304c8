#include "core/set_aside.h"

#include <fmt/core.h>

#include <string>
#include <system_error>

#include "core/error.h"

namespace che {

std::filesystem::path set_aside(const std::filesystem::path& path, std::string_view ending) {
  const std::string first = fmt::format("{}.{}", path.string(), ending);
  std::filesystem::path aside = first;
  std::error_code error;
  for (int i = 2; std::filesystem::exists(aside, error); ++i) aside = fmt::format("{}.{}", first, i);
  if (!error) std::filesystem::rename(path, aside, error);
  if (error) {
    throw Error(fmt::format("cannot move '{}' aside: {}", path.string(), error.message()), Fault::kRuntime);
  }
  return aside;
}

}  // namespace che
