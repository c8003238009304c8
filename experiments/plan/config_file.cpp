#include "experiments/plan/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/config/field_list.h"
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

// Sets what `base`, the `model` of a base, sets beside the kind, which `run` has already.
void assign_model(ConfigNode base, RunConfig& run) {
  const ConfigEntry* const kind = base.find("kind");
  const bool is_own =
      kind == nullptr ? run.model.kind == ModelConfig().kind : kind->value.text == run.model.kind;
  std::erase_if(base.entries, [](const ConfigEntry& entry) { return entry.key == "kind"; });
  try {
    assign_path("model", base, fields_of(run), "base.");
  } catch (const Error& error) {
    if (is_own) throw;
    throw Error(fmt::format("{}; model.kind is {}", error.what(), run.model.kind));
  }
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

RunConfig read_bases(std::vector<ConfigNode> bases, const std::vector<const Setting*>& named) {
  RunConfig run;
  const FieldVisitor::Members fields = fields_of(run);
  // Another text takes the place of the base's, whose corpus need not be there.
  const bool has_other_text =
      std::ranges::any_of(named, [](const Setting* setting) { return setting->path == "text"; });
  for (ConfigNode& base : bases) {
    if (has_other_text)
      std::erase_if(base.entries, [](const ConfigEntry& entry) { return entry.key == "text"; });
    if (const ConfigEntry* const entry = base.find("text")) {
      assign_path("text", entry->value, fields, "base.");
    }
  }
  // A setting below `text` needs the corpus that `text` names, which therefore comes first.
  for (const bool is_whole : {true, false}) {
    for (const Setting* setting : named) {
      if (is_whole == (setting->path == "text") && is_below(setting->path, "text"))
        assign_path(setting->path, setting->value, fields);
    }
  }
  ModelConfig model = run.model;
  const auto name_kind = [&](const ConfigNode& kind, std::string_view prefix) {
    assign_path("kind", kind, fields_of(model), prefix);
    if (model.entry().is_trained) return;
    throw config_error(
        kind.location, fmt::format("{}kind", prefix),
        "a config describes runs of che; results of a model outside che come from `che score`");
  };
  for (const ConfigNode& base : bases) {
    const ConfigEntry* const entry = base.find("model");
    const ConfigEntry* const kind = entry == nullptr ? nullptr : entry->value.find("kind");
    if (kind != nullptr) name_kind(kind->value, "base.model.");
  }
  for (const Setting* setting : named) {
    if (setting->path == "model.kind") name_kind(setting->value, "model.");
    if (setting->path != "model") continue;
    if (const ConfigEntry* const kind = setting->value.find("kind")) name_kind(kind->value, "model.");
  }
  run.model.kind = model.kind;
  for (ConfigNode& base : bases) {
    if (const ConfigEntry* const entry = base.find("model")) assign_model(entry->value, run);
    std::erase_if(base.entries, [](const ConfigEntry& entry) { return entry.key == "model"; });
    assign_fields(base, fields, "base.");
  }
  return run;
}

}  // namespace che
