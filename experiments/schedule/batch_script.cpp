#include "experiments/schedule/batch_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <regex>

#include "core/error.h"
#include "core/text.h"

namespace che {
namespace {

// A file's path for --output, where % begins a pattern.
std::string log_path(const std::filesystem::path& path, std::string_view pattern) {
  std::string text;
  for (const char c : path.string()) text += c == '%' ? std::string("%%") : std::string(1, c);
  return fmt::format("\"{}/{}\"", text, pattern);
}

class Script {
 public:
  void add_option(std::string_view name, const std::string& value) {
    if (!value.empty()) add_line(fmt::format("#SBATCH --{}={}", name, value));
  }
  // A line of the script, with nothing in it that could end the line.
  void add_line(const std::string& line) {
    const bool has_control =
        std::ranges::any_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (has_control) {
      throw Error(fmt::format("{}: control characters cannot be handed to sbatch", one_line(line)));
    }
    text_ += line + "\n";
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_ = "#!/bin/bash\n";
};

void check_can_be_quoted(const std::filesystem::path& path) {
  if (path.string().find_first_of("\"\\") != std::string::npos) {
    throw Error(
        fmt::format("{}: sbatch cannot write logs below a path with \" or \\; choose another "
                    "results folder with -o",
                    path.string()));
  }
}

Script begin(const Submission& submission, const std::string& name, std::string_view pattern,
             const BatchOptions& options) {
  check_can_be_quoted(submission.logs());
  Script script;
  script.add_option("job-name", name);
  script.add_option("output", log_path(submission.logs(), pattern));
  script.add_option("partition", options.partition);
  for (const std::string& other : options.others) {
    if (!other.starts_with("-")) {
      throw Error(fmt::format("--sbatch {}: allowed: an option of sbatch, such as --account=NAME", other));
    }
    script.add_line("#SBATCH " + other);
  }
  return script;
}

// Seconds of "minutes", "minutes:seconds", "hours:minutes:seconds", "days-hours", "days-hours:minutes" or
// "days-hours:minutes:seconds"; nothing for no limit. Throws Error for another text.
std::optional<std::int64_t> time_limit_seconds(const std::string& text) {
  if (text == "UNLIMITED" || text == "INFINITE") return std::nullopt;
  static const std::regex with_days("([0-9]{1,5})-([0-9]{1,5})(?::([0-9]{1,5}))?(?::([0-9]{1,5}))?");
  static const std::regex with_hours("([0-9]{1,5}):([0-9]{1,5}):([0-9]{1,5})");
  static const std::regex with_minutes("([0-9]{1,8})(?::([0-9]{1,5}))?");
  std::smatch parts;
  const auto number = [&](std::size_t part) {
    return part < parts.size() && parts[part].matched ? std::stoll(parts[part].str()) : 0;
  };
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  if (std::regex_match(text, parts, with_days)) {
    return 24 * kHour * number(1) + kHour * number(2) + kMinute * number(3) + number(4);
  }
  if (std::regex_match(text, parts, with_hours)) return kHour * number(1) + kMinute * number(2) + number(3);
  if (std::regex_match(text, parts, with_minutes)) return kMinute * number(1) + number(2);
  throw Error(
      fmt::format("--time {}: allowed: minutes, hours:minutes:seconds, days-hours, days-hours:minutes, "
                  "such as 4:00:00 or 1-12",
                  one_line(text)));
}

}  // namespace

void check_batch_options(const BatchOptions& options) {
  if (!options.time.empty()) {
    const auto seconds = time_limit_seconds(options.time);
    if (seconds && *seconds <= options.warning_seconds) {
      throw Error(
          fmt::format("--time {}: a task is warned {} seconds before its end (--warning) and would be "
                      "warned at once; allowed: more than that",
                      options.time, options.warning_seconds));
    }
  }
  if (options.partition.find_first_of(" \t") != std::string::npos) {
    throw Error(fmt::format("--partition '{}': allowed: a name, or several with commas and without spaces",
                            one_line(options.partition)));
  }
  // Every repetition has a limit, because std::regex calls itself for each.
  static const std::regex memory("[0-9]{1,15}[KMGT]?");
  if (!options.memory.empty() && !std::regex_match(options.memory, memory)) {
    throw Error(
        fmt::format("--mem {}: allowed: a number with K, M, G or T, such as 4G", one_line(options.memory)));
  }
  static const std::regex gpus(
      "([A-Za-z0-9_.-]{1,64}:)?[0-9]{1,6}(,([A-Za-z0-9_.-]{1,64}:)?[0-9]{1,6}){0,15}");
  if (!options.gpus.empty() && !std::regex_match(options.gpus, gpus)) {
    throw Error(fmt::format("--gpus {}: allowed: a number, or a kind and a number, such as 1 or a100:2",
                            one_line(options.gpus)));
  }
}

std::string array_script(const Submission& submission, const std::string& name,
                         const std::filesystem::path& program, const BatchOptions& options) {
  Script script = begin(submission, name, "%A_%a.log", options);
  script.add_option("time", options.time);
  script.add_option("mem", options.memory);
  script.add_option("gpus", options.gpus);
  script.add_option("cpus-per-task", std::to_string(options.cores));
  script.add_line("#SBATCH --open-mode=append");
  script.add_line("#SBATCH --requeue");
  script.add_option("signal", fmt::format("B:USR1@{}", options.warning_seconds));
  script.add_line("# exec, so that Slurm's signals reach the program.");
  script.add_line(
      fmt::format("exec {} task {} \"$(($1 + SLURM_ARRAY_TASK_ID))\" {}", quoted_shell_word(program.string()),
                  quoted_shell_word(submission.file().string()),
                  options.preempted_exit ? fmt::format("--preempted-exit {}", *options.preempted_exit)
                                         : fmt::format("--max-restarts {}", options.max_restarts)));
  return script.text();
}

std::string summary_script(const Submission& submission, const std::string& name,
                           const std::filesystem::path& program, const BatchOptions& options) {
  Script script = begin(submission, name, "summary_%j.log", options);
  const std::string che = quoted_shell_word(program.string());
  const std::string folder = quoted_shell_word(submission.experiment().string());
  script.add_line(fmt::format("{} table {}", che, folder));
  script.add_line(fmt::format("exec {} report {}", che, folder));
  return script.text();
}

}  // namespace che
