#include "experiments/analysis/task_versions.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>

#include "core/error.h"

namespace che {

void check_task_versions(const std::vector<const RunFolder*>& runs) {
  struct First {
    const RunFolder* run = nullptr;
    std::int64_t version = 1;
  };
  std::map<std::string, First> first_of;  // By the task's name.
  for (const RunFolder* const run : runs) {
    const TaskConfig& task = run->config().task;
    const auto [place, is_new] = first_of.try_emplace(task.name);
    First& first = place->second;
    if (!is_new && task.definition == first.run->config().task.definition && task.version == first.version) {
      continue;
    }
    const std::int64_t version = task_version(task);
    if (is_new) {
      first = {.run = run, .version = version};
    } else if (version != first.version) {
      throw Error(fmt::format(
          "two versions of the task {}, whose samples differ: {} has version {}, {} has version {}; allowed "
          "side by side: one version of a task; leave out a folder, or choose one version with --only {}",
          task.name, first.run->path().string(), first.version, run->path().string(), version,
          task.is_declared() ? "'task={file: FILE}'" : fmt::format("task.version={}", version)));
    }
  }
}

}  // namespace che
