#include "experiments/plan/config_file.h"

#include <fmt/format.h>

#include <string_view>
#include <system_error>
#include <utility>

#include "core/config/reader.h"
#include "core/error.h"
#include "core/files.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "tasks/declared/task_files.h"

namespace che {
namespace {

// Throws Error (usage) where there is nothing at `path`, with the config beside it or in configs/ that may be
// meant: configs/quick.yaml for quick and for quik.yaml.
void check_config_exists(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::status(path, ignored).type() != std::filesystem::file_type::not_found) return;
  const std::string name = (is_config_file(path) ? path.stem() : path.filename()).string();
  const std::string closest = closest_path(name, {path.parent_path(), "configs"}, is_config_file).string();
  const std::string hint =
      closest.empty() ? "" : fmt::format("; did you mean '{}'?", one_line(closest, kWholeText));
  throw Error(fmt::format("{}: no such file{}", one_line(path.string(), kWholeText), hint));
}

}  // namespace

bool is_config_file(const std::filesystem::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

ConfigNode read_config(const std::filesystem::path& path) {
  check_config_exists(path);
  ConfigNode root = read_config_file(path);
  replace_task_files(root, path.parent_path());
  return root;
}

void check_config_keys(const ConfigNode& root) {
  check_keys(root, "", {"name", "description", "extends", "base", "axes", "exclude"});
}

std::vector<ConfigFile> files_extended_by(const ConfigNode& root, const std::filesystem::path& path) {
  constexpr std::size_t kMaxConfigs = 8;
  std::vector<ConfigFile> found;
  found.reserve(kMaxConfigs);  // `extends` leads into it.
  std::filesystem::path folder = path.parent_path();
  const ConfigEntry* extends = root.find("extends");
  while (extends != nullptr) {
    const auto fail = [&](std::string_view problem) {
      throw config_error(extends->location, "extends", problem);
    };
    const ConfigNode& value = extends->value;
    if (value.kind != ConfigNode::Kind::kScalar || value.text.empty()) {
      fail(fmt::format("got {}; allowed: the path of a config, such as small.yaml", short_text(value)));
    }
    if (found.size() == kMaxConfigs) fail(fmt::format("more than {} configs, or a circle", kMaxConfigs));
    const std::filesystem::path file = folder / value.text;
    const std::string name = one_line(file.string(), kWholeText);
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) {
      fail(fmt::format("there is no file '{}'; the path is relative to this config's folder", name));
    }
    if (!lies_in(file, folder)) {
      fail(fmt::format("'{}' lies outside the folder of this config; copy it there", name));
    }
    found.push_back({name, read_config(file)});
    check_config_keys(found.back().root);
    extends = found.back().root.find("extends");
    folder = file.parent_path();
  }
  return found;
}

RunConfig read_bases(const std::vector<ConfigNode>& bases, const std::vector<const Setting*>& text) {
  RunConfig run;
  for (const ConfigNode& base : bases) {
    if (const ConfigEntry* const entry = base.find("text"))
      assign_path("text", entry->value, fields_of(run), "base.");
  }
  for (const Setting* setting : text) assign_path(setting->path, setting->value, fields_of(run));
  for (const ConfigNode& base : bases) assign_fields(base, fields_of(run), "base.");
  return run;
}

}  // namespace che
