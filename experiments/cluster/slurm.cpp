#include "experiments/cluster/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "core/process.h"
#include "core/text.h"

namespace che {
namespace {

constexpr int kTimedOut = 124;  // What `timeout` exits with.

// What the command says, in one line and without its name: "squeue: error: ...".
std::string message_of(const std::string& name, std::string_view messages) {
  if (messages.starts_with(name + ": ")) messages.remove_prefix(name.size() + 2);
  messages = messages.substr(0, messages.find_last_not_of(" \n") + 1);
  return messages.empty() ? "it failed and says nothing" : one_line(messages, 300);
}

// The output of a command of Slurm.
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

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
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
    const auto job = number_in(id);
    if (job) jobs.push_back({*job, number_in(index), one_line(state), one_line(reason), command});
  }
  return jobs;
}

std::int64_t max_array_size() {
  std::istringstream lines(output_of({"scontrol", "show", "config"}));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("MaxArraySize")) continue;
    const std::size_t digits = line.find_last_of(' ') + 1;
    if (const auto size = number_in(std::string_view(line).substr(digits)); size && *size > 0) return *size;
  }
  throw Error("scontrol: its configuration names no MaxArraySize", ErrorKind::kRuntime);
}

std::int64_t submit_batch(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"sbatch", "--parsable"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string output = output_of(words);
  // "id" or "id;cluster"
  const std::string_view id = std::string_view(output).substr(0, output.find_first_of(";\n"));
  if (const auto job = number_in(id)) return *job;
  throw Error(fmt::format("sbatch: expected a job's id, got '{}'", one_line(output)), ErrorKind::kRuntime);
}

void requeue(const std::string& element) { output_of({"scontrol", "requeue", element}); }

}  // namespace che
