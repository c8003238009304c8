#include "cli/output_folder.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/error.h"

namespace che {

void check_output_folder(std::string_view option, const std::string& file) {
  if (file.empty()) return;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (std::filesystem::is_directory(folder)) return;
  throw Error(fmt::format("{} {}: there is no folder {}; create it first", option, file, folder.string()));
}

}  // namespace che
