#include "experiments/plan/config_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/suggestion.h"
#include "core/text.h"

namespace che {
namespace {

// The config that `path`, where no file is, may stand for, beside it or in configs/: configs/quick.yaml for
// quick and for quik.yaml; empty for none.
std::filesystem::path meant_config(const std::filesystem::path& path) {
  const std::string name = (path.extension() == ".yaml" ? path.stem() : path.filename()).string();
  std::filesystem::path closest;
  for (const std::filesystem::path& folder : {path.parent_path(), std::filesystem::path("configs")}) {
    std::error_code ignored;
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder.empty() ? std::filesystem::path(".") : folder, ignored)) {
      if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
    }
    std::ranges::sort(names);
    const std::string meant = closest_name(name, names);
    if (meant == name) return folder / (meant + ".yaml");
    if (closest.empty() && !meant.empty()) closest = folder / (meant + ".yaml");
  }
  return closest;
}

}  // namespace

void check_config_exists(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::status(path, ignored).type() != std::filesystem::file_type::not_found) return;
  const std::string meant = meant_config(path).string();
  const std::string hint =
      meant.empty() ? "" : fmt::format("; did you mean '{}'?", one_line(meant, std::string_view::npos));
  throw Error(fmt::format("{}: no such file{}", one_line(path.string(), std::string_view::npos), hint));
}

}  // namespace che
