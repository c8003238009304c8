#include "experiments/cluster/slurm_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "core/error.h"

namespace che {

std::set<std::string> runs_in_queue(const std::vector<Submission>& submissions,
                                    const std::vector<QueuedTask>& queued) {
  std::set<std::string> ids;
  for (const Submission& submission : submissions) {
    for (const SubmittedArray& array : submission.arrays) {
      for (const QueuedTask& element : queued) {
        const std::size_t task = array.first + static_cast<std::size_t>(element.index);
        if (element.array != array.job || task >= submission.tasks.size()) continue;
        for (const auto& job : submission.tasks[task]) ids.insert(job.begin(), job.end());
      }
    }
  }
  return ids;
}

std::vector<std::string> slurm_status(const std::filesystem::path& experiment) {
  std::vector<std::int64_t> arrays;
  for (const Submission& submission : read_submissions(experiment)) {
    for (const SubmittedArray& array : submission.arrays) arrays.push_back(array.job);
  }
  if (arrays.empty()) return {};
  std::vector<QueuedTask> queued;
  try {
    queued = queued_tasks();
  } catch (const Error& error) {
    return {fmt::format("Slurm: arrays {} were submitted; their state is not known: {}",
                        fmt::join(arrays, ", "), error.what())};
  }
  std::vector<std::string> lines;
  for (const std::int64_t array : arrays) {
    std::map<std::pair<std::string, std::string>, std::size_t> counts;  // By state and reason.
    for (const QueuedTask& task : queued) {
      if (task.array != array) continue;
      ++counts[{task.state, task.state == "PENDING" ? " (" + task.reason + ")" : ""}];
    }
    std::vector<std::string> texts;
    texts.reserve(counts.size());
    for (const auto& [state, count] : counts) {
      texts.push_back(fmt::format("{} {}{}", count, state.first, state.second));
    }
    if (!texts.empty()) lines.push_back(fmt::format("Slurm: array {}: {}", array, fmt::join(texts, ", ")));
  }
  if (lines.empty()) lines.emplace_back("Slurm: none of the submitted tasks is in the queue");
  return lines;
}

}  // namespace che
