// A config's file, and the files that it extends.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/node.h"
#include "experiments/plan/run_config.h"

namespace che {

// Returns whether a path has the ending of a config: .yaml or .yml.
bool is_config_file(const std::filesystem::path& path);

// Reads a config's file, with the definitions of the tasks whose files it names. Throws Error (usage).
ConfigNode read_config(const std::filesystem::path& path);

// Throws Error (usage) for a key that no config has at its top.
void check_config_keys(const ConfigNode& root);

struct ConfigFile {
  std::string path;
  ConfigNode root;
};

// Follows `extends: small.yaml` from the config at `path`, whose content is `root`, and returns the files
// that it extends, the nearest first. They lie in the folder of the config that names them or below, so that
// a stranger's config shows no other file of this machine. Throws Error (usage) where one is no config, and
// for more than 8 or a circle.
std::vector<ConfigFile> files_extended_by(const ConfigNode& root, const std::filesystem::path& path);

// Returns what the `base` of a config and of those that it extends set together. `text` has the settings of a
// run's text that stand elsewhere. A text is named before all else, because its defaults take the place of a
// task's and never of what a base sets.
RunConfig read_bases(const std::vector<ConfigNode>& bases, const std::vector<const Setting*>& text);

}  // namespace che
