#include "tasks/declared/task_suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/suggestion.h"
#include "tasks/declared/task_definition.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// The paths of a folder's files of tasks by their names without ending. None where it cannot be read.
std::map<std::string, std::string> task_files(const fs::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? "." : folder, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (is_task_file(name.string())) files.emplace(name.stem().string(), (folder / name).string());
  }
  return files;
}

std::vector<std::string> names_of(const std::map<std::string, std::string>& files) {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const auto& [name, path] : files) names.push_back(name);
  return names;
}

// The registered task; `written` is how a suggested file is written there.
template <class Written>
const TaskEntry& registered_task_or_file(std::string_view name, const Written& written) {
  const auto& registry = Registry<TaskEntry>::instance();
  const std::vector<std::string> known = registry.names();
  if (std::ranges::count(known, name) == 0) {
    const std::map<std::string, std::string> files = task_files(kTaskFileFolder);
    const std::vector<std::string> names = names_of(files);
    std::string file = std::ranges::count(names, name) > 0 ? std::string(name) : "";
    // One letter is near to every short name.
    if (file.empty() && name.size() > 1 && closest_name(name, known).empty()) {
      file = closest_name(name, names);
    }
    if (!file.empty()) {
      throw Error(fmt::format("unknown task '{}'{}", name, names_hint(written(files.at(file)), known)));
    }
  }
  return registry.get(name);
}

}  // namespace

std::string closest_task_file(const fs::path& path) {
  std::error_code error;
  const fs::path shipped = fs::absolute(kTaskFileFolder, error);
  for (const fs::path& folder : {path.parent_path(), shipped}) {
    const std::map<std::string, std::string> files = task_files(folder);
    const std::string name = closest_name(path.stem().string(), names_of(files));
    if (!name.empty()) return files.at(name);
  }
  return "";
}

const TaskEntry& registered_task(std::string_view name) {
  return registered_task_or_file(name, [](const std::string& file) { return file; });
}

const TaskEntry& task_of_config(std::string_view name) {
  return registered_task_or_file(name, [](const std::string& file) {
    std::error_code error;
    return fmt::format("{{file: {}}}", fs::absolute(file, error).string());
  });
}

}  // namespace che
