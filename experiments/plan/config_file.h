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

// Returns what the `base` of a config and of those that it extends set together. `named` are settings
// elsewhere that decide what a base may set and what its defaults are: those of a text and of the kind of
// model. These come before all else: a text's defaults take the place of a task's and never of what a base
// sets, and a base's `model` is read for the kind that the run has. Throws Error (usage), also for a model
// outside che.
RunConfig read_bases(std::vector<ConfigNode> bases, const std::vector<const Setting*>& named);

}  // namespace che
