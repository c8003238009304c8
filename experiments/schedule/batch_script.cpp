#include "experiments/schedule/batch_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <regex>

#include "core/error.h"
#include "core/text.h"
#include "experiments/plan/operations.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/time_left.h"

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

Script begin(const Submission& submission, const std::string& name, std::string_view pattern,
             const BatchOptions& options) {
  check_log_folder(submission.logs());
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

void check_log_folder(const std::filesystem::path& path) {
  if (path.string().find_first_of("\"\\") != std::string::npos) {
    throw Error(
        fmt::format("{}: sbatch cannot write logs below a path with \" or \\; choose another "
                    "results folder with -o",
                    path.string()));
  }
}

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
  if (!options.memory.empty() && options.memory != "auto" && !std::regex_match(options.memory, memory)) {
    throw Error(fmt::format("--mem {}: allowed: a number with K, M, G or T, such as 4G, or auto",
                            one_line(options.memory)));
  }
  static const std::regex gpus(
      "([A-Za-z0-9_.-]{1,64}:)?[0-9]{1,6}(,([A-Za-z0-9_.-]{1,64}:)?[0-9]{1,6}){0,15}");
  if (!options.gpus.empty() && !std::regex_match(options.gpus, gpus)) {
    throw Error(fmt::format("--gpus {}: allowed: a number, or a kind and a number, such as 1 or a100:2",
                            one_line(options.gpus)));
  }
}

std::string memory_request(double bytes) {
  constexpr double kMargin = 1.25;
  constexpr double kStep = 100;
  return fmt::format("{:.0f}M", kStep * std::ceil(kMargin * bytes / 0x1p20 / kStep));
}

void warn_of_unfitting_options(const BatchOptions& options, const std::vector<std::vector<RunConfig>>& tasks,
                               const WarningSink& warn) {
  constexpr double kOperationsPerSecond = 5e10;  // Nominal ones of a core at the paper's width.
  constexpr double kShortSeconds = 20;
  bool is_for_gpus = false;
  std::size_t stopped = 0;
  double longest = 0;
  for (const std::vector<RunConfig>& task : tasks) {
    double operations = 0;
    for (const RunConfig& run : task) {
      operations += run_operations(run).all();
      is_for_gpus |= may_use_gpu(run);
    }
    const double seconds = operations / kOperationsPerSecond / static_cast<double>(options.cores);
    longest = std::max(longest, seconds);
    const auto limit = options.time.empty() ? std::nullopt : time_limit_seconds(options.time);
    const std::int64_t starts = options.preempted_exit ? 1 : options.max_restarts + 1;
    if (limit && seconds > static_cast<double>(starts * (*limit - options.warning_seconds))) ++stopped;
  }
  if (!is_for_gpus && !options.gpus.empty()) {
    warn("--gpus: no run asks for a GPU; execution.device=cuda or auto does");
  }
  if (is_for_gpus && options.gpus.empty()) {
    warn("execution.device: runs may use a GPU, and tasks get none without --gpus");
  }
  if (is_for_gpus) return;  // The nominal speed below is a CPU's.
  if (stopped > 0) {
    warn(fmt::format(
        "--time {} with {} restarts stops {} of {} short, at a nominal {:.2g} operations a second and "
        "core: the longest needs about {}; `che run --dry-run` measures",
        options.time, options.preempted_exit ? 0 : options.max_restarts, stopped,
        counted(tasks.size(), "task"), kOperationsPerSecond, duration_text(longest)));
  }
  if (longest < kShortSeconds && tasks.size() > 1) {
    warn(
        fmt::format("the longest task takes about {}, less than a batch system needs to start it; "
                    "--runs-per-task gives each several",
                    duration_text(longest)));
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
  // The job only reads results and draws. It has limits if the tasks have some, and no longer time than they.
  if (!options.time.empty()) {
    constexpr std::int64_t kHour = 3600;
    const auto limit = time_limit_seconds(options.time);
    script.add_option("time", limit && *limit < kHour ? options.time : "60");
  }
  if (!options.memory.empty()) script.add_option("mem", "4G");
  const std::string che = quoted_shell_word(program.string());
  const std::string folder = quoted_shell_word(submission.experiment().string());
  script.add_line(fmt::format("{} table {}", che, folder));
  script.add_line(fmt::format("exec {} report {}", che, folder));
  return script.text();
}

}  // namespace che
