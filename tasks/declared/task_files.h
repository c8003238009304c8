#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/config/node.h"
#include "tasks/task.h"

namespace che {

// Where the files of tasks that come with che lie, from the folder of its sources.
inline constexpr std::string_view kTaskFileFolder = "tasks/files";

// Returns the file of a task (see is_task_file) that `path`, which is not there, may be meant to be. It is
// the one of the nearest name next to it or, where that has none, in kTaskFileFolder below the working
// directory. It is an absolute path, because configs name files from their own folder. Empty for none.
std::string closest_task_file(const std::filesystem::path& path);

// The registered task. Throws Error as Registry::get does; a name that is that of a file in kTaskFileFolder,
// or near to one and to no registered name, suggests that file.
const TaskEntry& registered_task(std::string_view name);

// Does it for a config, which names a file as {file: PATH}.
const TaskEntry& task_of_config(std::string_view name);

// Replaces every `task: {file: my_task.yaml}` in a config, also in axes, variants and filters, by the
// definition that the file holds, so that runs need no file. Paths are relative to `folder`. Throws Error
// (usage) for a file that cannot be read or is no task.
void replace_task_files(ConfigNode& config, const std::filesystem::path& folder);

// Does it for a setting of the command line, whose paths are relative to the working directory.
void replace_task_files(Setting& setting);

}  // namespace che
