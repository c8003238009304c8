#pragma once

#include <filesystem>

#include "core/config/node.h"

namespace che {

// Replaces every `task: {file: my_task.yaml}` in a config, also in axes, variants and filters, by the
// definition that the file holds, so that runs need no file. Paths are relative to `folder`. Throws Error
// (usage) for a file that cannot be read or is no task.
void replace_task_files(ConfigNode& config, const std::filesystem::path& folder);

// The same of a setting of the command line, whose paths are relative to the working directory.
void replace_task_files(Setting& setting);

}  // namespace che
