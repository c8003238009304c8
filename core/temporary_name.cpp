#include "core/temporary_name.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "core/error.h"
#include "core/text.h"

namespace che {
namespace {

constexpr std::string_view kEnding = ".tmp";

std::uint64_t unpredictable_number() {
  std::uint64_t number = 0;
  // Requests of this size are neither cut short nor interrupted once the system has started.
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    throw Error(fmt::format("the system gives no random numbers: {}", std::strerror(errno)),
                ErrorKind::kRuntime);
  }
  return number;
}

}  // namespace

void check_name(const std::filesystem::path& path) {
  if (path.native().find('\0') == std::string::npos) return;
  throw Error(fmt::format("'{}' has a NUL character; name another file or folder",
                          one_line(path.string(), kWholeText)));
}

std::string temporary_name(const std::filesystem::path& path) {
  check_name(path);
  return fmt::format(".{}.{:016x}{}", path.filename().string(), unpredictable_number(), kEnding);
}

bool is_temporary_name_of(const std::filesystem::path& path, std::string_view name) {
  const std::string start = fmt::format(".{}.", path.filename().string());
  if (!name.starts_with(start) || !name.ends_with(kEnding)) return false;
  if (name.size() != start.size() + 16 + kEnding.size()) return false;
  return name.substr(start.size(), 16).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_temporary_name(std::string_view name) { return name.starts_with('.') && name.ends_with(kEnding); }

}  // namespace che
