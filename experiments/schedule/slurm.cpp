#include "experiments/schedule/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/number_text.h"
#include "core/process.h"
#include "core/text.h"
#include "experiments/schedule/progress.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr int kSlurmSeconds = 15;
constexpr int kTimedOut = 124;  // The exit code of `timeout`.

// The command's message in one line, without its name: "squeue: error: ...".
std::string message_of(const std::string& name, std::string_view messages) {
  if (messages.starts_with(name + ": ")) messages.remove_prefix(name.size() + 2);
  messages = messages.substr(0, messages.find_last_not_of(" \n") + 1);
  return messages.empty() ? "it failed and says nothing" : one_line(messages, 300);
}

// Returns the output of a command of Slurm.
std::string output_of(const std::vector<std::string>& words) {
  const std::string& name = words.front();
  std::vector<std::string> limited{"timeout", std::to_string(kSlurmSeconds)};
  limited.insert(limited.end(), words.begin(), words.end());
  const ProgramOutput program = run_program(limited);
  if (program.exit_code == 0) return program.output;
  std::string problem = message_of(name, program.messages);
  if (program.exit_code == kTimedOut) {
    problem = fmt::format("no answer within {} seconds; is Slurm's controller running?", kSlurmSeconds);
  } else if (program.exit_code == 127) {
    problem = "it is not on the PATH; submit from a machine with Slurm's commands";
  }
  throw Error(fmt::format("{}: {}", name, problem), ErrorKind::kRuntime);
}

// Finds commands that run a script by any path that leads to it, and their first arguments.
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

// Submits the job that makes table and report after the arrays.
void submit_summary(Submission& submission, const std::vector<std::int64_t>& arrays) {
  submission.summary = submit_batch({fmt::format("--dependency=afterany:{}", fmt::join(arrays, ":")),
                                     submission.summary_script().string()});
  submission.store();
  print_progress(fmt::format("table and report follow as job {}; logs in {}\n", submission.summary,
                             submission.logs().string()));
}

}  // namespace

std::vector<QueuedJob> queued_jobs() {
  std::istringstream lines(output_of({"squeue", "--me", "--noheader", "--array", "--format=%F|%K|%T|%r|%o"}));
  std::vector<QueuedJob> jobs;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string id, index, state, reason, command;
    std::getline(fields, id, '|');
    std::getline(fields, index, '|');  // "N/A" where it is no array.
    std::getline(fields, state, '|');
    std::getline(fields, reason, '|');
    std::getline(fields, command);
    const auto job = parse_integer(id);
    if (job) jobs.push_back({*job, parse_integer(index), one_line(state), one_line(reason), command});
  }
  return jobs;
}

std::int64_t max_array_size() {
  std::istringstream lines(output_of({"scontrol", "show", "config"}));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("MaxArraySize")) continue;
    const std::size_t digits = line.find_last_of(' ') + 1;
    if (const auto size = parse_integer(line.substr(digits)); size && *size > 0) return *size;
  }
  throw Error("scontrol: its configuration names no MaxArraySize", ErrorKind::kRuntime);
}

std::int64_t submit_batch(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"sbatch", "--parsable"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string output = output_of(words);
  // "id" or "id;cluster"
  const std::string_view id = std::string_view(output).substr(0, output.find_first_of(";\n"));
  if (const auto job = parse_integer(id)) return *job;
  throw Error(fmt::format("sbatch: expected a job's id, got '{}'", one_line(output)), ErrorKind::kRuntime);
}

void requeue(const std::string& element) { output_of({"scontrol", "requeue", element}); }

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
    const auto text = [](const auto& counted_state) {
      const auto& [state, count] = counted_state;
      return fmt::format("{} {}{}", count, state.first, state.second);
    };
    lines.push_back(fmt::format("Slurm: array {}: {}", array, joined(states, ", ", text)));
  }
  if (lines.empty() && !submitted.empty()) {
    lines.emplace_back("Slurm: none of the submitted tasks is in the queue");
  }
  return lines;
}

std::vector<std::vector<RunFolder>> jobs_out_of_queue(const std::vector<std::vector<RunFolder>>& jobs,
                                                      const std::set<std::string>& queued) {
  std::vector<std::vector<RunFolder>> left;
  for (std::vector<RunFolder> job : jobs) {
    std::erase_if(job, [&](const RunFolder& run) { return queued.contains(run.id()); });
    if (!job.empty()) left.push_back(std::move(job));
  }
  return left;
}

std::string array_elements(std::size_t count, std::int64_t parallel) {
  std::string text = fmt::format("0-{}", count - 1);
  if (parallel > 0) text += fmt::format("%{}", parallel);
  return text;
}

void complete_submission(Submission& submission, const std::vector<QueuedJob>& queue) {
  if (submission.arrays.empty() || submission.summary != 0) return;
  const QueuedSubmission queued = find_in_queue(submission, queue);
  if (queued.arrays.empty()) return;
  std::vector<std::int64_t> ids;
  for (const auto& [id, first] : queued.arrays) {
    ids.push_back(id);
    for (SubmittedArray& array : submission.arrays) {
      if (array.first == first) array.job = id;
    }
  }
  submission.summary = queued.summary;
  submission.store();
  print_progress(fmt::format("found of a submission that was not completed: {} {}\n",
                             ids.size() == 1 ? "array" : "arrays", fmt::join(ids, ", ")));
  if (submission.summary == 0) submit_summary(submission, ids);
}

void submit_arrays(Submission& submission, const std::vector<SubmittedArray>& parts, std::int64_t parallel) {
  submission.arrays = parts;
  submission.store();
  std::vector<std::int64_t> ids;
  try {
    for (SubmittedArray& part : submission.arrays) {
      part.job = submit_batch({"--array=" + array_elements(part.count, parallel),
                               submission.array_script().string(), std::to_string(part.first)});
      ids.push_back(part.job);
      submission.store();
      print_progress(fmt::format("submitted {} as array {}\n", counted(part.count, "task"), part.job));
    }
    submit_summary(submission, ids);
  } catch (const Error& error) {
    throw Error(fmt::format("{}; {} of {} submitted; `che submit` again submits the rest", error.what(),
                            ids.size(), counted(parts.size(), "array")),
                error.kind());
  }
}

}  // namespace che
