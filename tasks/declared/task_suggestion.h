#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tasks/task.h"

namespace che {

// Where the files of tasks that come with che lie, from the folder of its sources.
inline constexpr std::string_view kTaskFileFolder = "tasks/files";

// The file of a task (see is_task_file) that `path`, which is not there, may be meant to be: the one of the
// nearest name next to it or, where that has none, in kTaskFileFolder below the working directory, as an
// absolute path, because configs name files from their own folder. Empty for none.
std::string closest_task_file(const std::filesystem::path& path);

// The registered task. Throws Error as Registry::get does; a name that is that of a file in kTaskFileFolder,
// or near to one and to no registered name, suggests that file.
const TaskEntry& registered_task(std::string_view name);

// The same for a config, which names a file as {file: PATH}.
const TaskEntry& task_of_config(std::string_view name);

}  // namespace che
