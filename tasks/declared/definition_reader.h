#pragma once

#include <filesystem>

#include "core/config/node.h"
#include "tasks/declared/task_definition.h"

namespace che {

// The definition of a map, as parse_task_definition describes it.
TaskDefinition read_definition(const ConfigNode& root, const std::filesystem::path& folder);

}  // namespace che
