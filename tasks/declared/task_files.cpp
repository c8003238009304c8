#include "tasks/declared/task_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "core/suggestion.h"
#include "tasks/declared/task_definition.h"

namespace che {
namespace {

namespace fs = std::filesystem;

bool is_task_path(const fs::path& path) { return is_task_file(path.filename().string()); }

// The registered task; `written` is how a suggested file is written there.
template <class Written>
const TaskEntry& registered_task_or_file(std::string_view name, const Written& written) {
  const auto& registry = Registry<TaskEntry>::instance();
  const std::vector<std::string> known = registry.names();
  if (std::ranges::count(known, name) == 0) {
    const fs::path file = closest_path(name, {kTaskFileFolder}, is_task_path);
    // One letter is near to every short name.
    const bool is_near = name.size() > 1 && closest_name(name, known).empty();
    if (!file.empty() && (file.stem() == name || is_near)) {
      throw Error(fmt::format("unknown task '{}'{}", name, names_hint(written(file), known)));
    }
  }
  return registry.get(name);
}

using Kind = ConfigNode::Kind;

ConfigEntry entry(std::string_view key, std::string text, const ConfigLocation& location) {
  ConfigEntry result{.key = std::string(key), .location = location};
  result.value.kind = Kind::kScalar;
  result.value.location = location;
  result.value.text = std::move(text);
  return result;
}

// Replaces the value of a `task` that names a file, from the folder of its config or, without one, from the
// working directory.
void replace(ConfigNode& task, const fs::path* folder) {
  if (task.kind == Kind::kSequence) {
    for (ConfigNode& item : task.items) replace(item, folder);
    return;
  }
  const ConfigEntry* const file = task.find("file");
  if (file == nullptr) return;
  const auto fail = [&](const ConfigLocation& location, const std::string& problem) {
    throw config_error(location, "task.file", problem);
  };
  if (file->value.kind != Kind::kScalar || file->value.text.empty()) {
    fail(file->location, fmt::format("got {}; allowed: the path of a task's file", short_text(file->value)));
  }
  if (task.entries.size() > 1) fail(file->location, "stands alone; the file has all settings of its task");
  const fs::path path = folder == nullptr ? fs::path(file->value.text) : *folder / file->value.text;
  TaskDefinition definition;
  std::error_code ignored;
  if (folder != nullptr && fs::is_fifo(path, ignored)) {
    fail(file->location, fmt::format("'{}' is a FIFO; allowed: a regular file", path.string()));
  }
  try {
    definition = read_task_file(path);
  } catch (const Error& error) {
    // A config that somebody else wrote must not print any file of this machine.
    if (folder != nullptr && fs::is_regular_file(path, ignored) && !lies_in(path, *folder)) {
      fail(file->location,
           fmt::format("'{0}' is no file of a task; `che list task {0}` says why: what a file outside the "
                       "config's folder holds is not shown here",
                       path.string()));
    }
    throw Error(config_error(file->location, "task.file", error.what()).what(), error.kind());
  }
  ConfigNode inlined;
  inlined.kind = Kind::kMap;
  inlined.location = task.location;
  inlined.written = short_text(task);
  inlined.entries.push_back(entry("name", definition.name, file->location));
  inlined.entries.push_back(entry("definition", definition.canonical(), file->location));
  if (!definition.description.empty()) {
    inlined.entries.push_back(entry("description", definition.description, file->location));
  }
  task = std::move(inlined);
}

}  // namespace

std::string closest_task_file(const fs::path& path) {
  std::error_code error;
  return closest_path(path.stem().string(), {path.parent_path(), fs::absolute(kTaskFileFolder, error)},
                      is_task_path)
      .string();
}

const TaskEntry& registered_task(std::string_view name) {
  return registered_task_or_file(name, [](const fs::path& file) { return file.string(); });
}

const TaskEntry& task_of_config(std::string_view name) {
  return registered_task_or_file(name, [](const fs::path& file) {
    std::error_code error;
    return fmt::format("{{file: {}}}", fs::absolute(file, error).string());
  });
}

void replace_task_files(ConfigNode& config, const std::filesystem::path& folder) {
  for (ConfigNode& item : config.items) replace_task_files(item, folder);
  for (ConfigEntry& member : config.entries) {
    if (member.key == "task") {
      replace(member.value, &folder);
    } else if (member.key == "task.file") {
      throw config_error(member.location, "task.file", "write it as task: {file: my_task.yaml}");
    } else {
      replace_task_files(member.value, folder);
    }
  }
}

void replace_task_files(Setting& setting) {
  if (setting.path == "task" || setting.path == "axes.task") {
    replace(setting.value, nullptr);
  } else if (setting.path == "task.file" || setting.path == "axes.task.file") {
    throw config_error(setting.value.location, setting.path, "write it as task={file: my_task.yaml}");
  } else {
    replace_task_files(setting.value, "");
  }
}

}  // namespace che
