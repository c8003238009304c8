#include "experiments/cluster/slurm_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/number_text.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// Whether `command` runs `script` by any path that leads to it, and then the script's first argument.
class ScriptMatch {
 public:
  explicit ScriptMatch(const fs::path& script) : script_(fs::weakly_canonical(script)) {}

  bool matches(std::string_view command) const {
    if (!command.ends_with(script_.filename().string())) return false;  // Most are of other programs.
    std::error_code error;
    return fs::weakly_canonical(fs::path(command), error) == script_ && !error;
  }

  std::optional<std::size_t> argument_of(const std::string& command) {
    const auto [found, is_new] = arguments_.try_emplace(command);
    const std::size_t space = command.rfind(' ');
    if (!is_new || space == std::string::npos) return found->second;
    const auto number = parse_integer(command.substr(space + 1));
    if (number && *number >= 0 && matches(std::string_view(command).substr(0, space))) {
      found->second = static_cast<std::size_t>(*number);
    }
    return found->second;
  }

 private:
  fs::path script_;
  std::map<std::string, std::optional<std::size_t>> arguments_;  // Elements of an array have one command.
};

}  // namespace

QueuedSubmission find_in_queue(const Submission& submission, const std::vector<QueuedJob>& queue) {
  QueuedSubmission found;
  ScriptMatch array(submission.array_script());
  const ScriptMatch summary(submission.summary_script());
  for (const QueuedJob& job : queue) {
    if (!job.index) {
      if (summary.matches(job.command)) found.summary = job.id;
      continue;
    }
    const std::optional<std::size_t> first = array.argument_of(job.command);
    if (!first) continue;
    found.arrays[job.id] = *first;
    found.elements.push_back(job);
    const std::size_t task = *first + static_cast<std::size_t>(*job.index);
    if (task < submission.tasks.size()) found.tasks.insert(task);
  }
  return found;
}

std::set<std::string> runs_in_queue(const std::vector<Submission>& submissions,
                                    const std::vector<QueuedJob>& queue) {
  std::set<std::string> ids;
  for (const Submission& submission : submissions) {
    for (const std::size_t task : find_in_queue(submission, queue).tasks) {
      for (const auto& job : submission.tasks[task]) ids.insert(job.begin(), job.end());
    }
  }
  return ids;
}

std::vector<std::string> slurm_status(const fs::path& experiment) {
  const std::vector<Submission> submissions = read_submissions(experiment);
  if (submissions.empty()) return {};
  std::vector<std::int64_t> submitted;
  for (const Submission& submission : submissions) {
    for (const SubmittedArray& array : submission.arrays) {
      if (array.job != 0) submitted.push_back(array.job);
    }
  }
  std::vector<QueuedJob> queue;
  try {
    queue = queued_jobs();
  } catch (const Error& error) {
    if (submitted.empty()) return {};  // Files were written, on a machine without Slurm for example.
    return {fmt::format("Slurm: arrays {} were submitted; their state is not known: {}",
                        fmt::join(submitted, ", "), error.what())};
  }
  // By array, state and reason.
  std::map<std::int64_t, std::map<std::pair<std::string, std::string>, std::size_t>> counts;
  for (const Submission& submission : submissions) {
    for (const QueuedJob& job : find_in_queue(submission, queue).elements) {
      ++counts[job.id][{job.state, job.state == "PENDING" ? " (" + job.reason + ")" : ""}];
    }
  }
  std::vector<std::string> lines;
  for (const auto& [array, states] : counts) {
    std::vector<std::string> texts;
    texts.reserve(states.size());
    for (const auto& [state, count] : states) {
      texts.push_back(fmt::format("{} {}{}", count, state.first, state.second));
    }
    lines.push_back(fmt::format("Slurm: array {}: {}", array, fmt::join(texts, ", ")));
  }
  if (lines.empty() && !submitted.empty()) {
    lines.emplace_back("Slurm: none of the submitted tasks is in the queue");
  }
  return lines;
}

}  // namespace che
