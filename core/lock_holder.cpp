#include "core/lock_holder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "core/number_text.h"
#include "core/process.h"
#include "core/text.h"

namespace che {
namespace {

// The fields of /proc/PID/stat that follow the program's name, which may hold anything.
constexpr std::size_t kStateField = 0;
constexpr std::size_t kStartField = 19;

// Applies `each(name, member)` to everything that is stored of a holder.
template <class Holder, class Each>
void for_each_member(Holder& holder, Each each) {
  each("host", holder.host);
  each("boot", holder.boot);
  each("namespace", holder.name_space);
  each("process", holder.process);
  each("start", holder.start);
  each("task", holder.task);
  each("restart", holder.restart);
  each("since", holder.since);
}

void assign(const std::string& text, std::string& member) { member = text; }
void assign(const std::string& text, std::int64_t& member) { member = parse_integer(text).value_or(0); }

std::string environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// An element of an array, or a job, of Slurm, and which of its processes where srun started several.
std::string batch_task() {
  std::string task = environment("SLURM_ARRAY_JOB_ID");
  if (!task.empty()) task += "_" + environment("SLURM_ARRAY_TASK_ID");
  if (task.empty()) task = environment("SLURM_JOB_ID");
  const std::string process = environment("SLURM_PROCID");
  return task.empty() || process.empty() || process == "0" ? task : task + "." + process;
}

std::vector<std::string> stat_fields(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t end = text.rfind(')');
  std::istringstream rest(end == std::string::npos ? "" : text.substr(end + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

std::int64_t start_of(const std::vector<std::string>& fields) {
  return fields.size() > kStartField ? parse_integer(fields[kStartField]).value_or(0) : 0;
}

}  // namespace

LockHolder this_process() {
  LockHolder holder{.host = host_name(), .boot = {}, .name_space = {}, .process = ::getpid()};
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), holder.boot);
  std::error_code error;
  holder.name_space = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  holder.start = start_of(stat_fields(holder.process));
  holder.task = one_line(batch_task());
  holder.restart = parse_integer(environment("SLURM_RESTART_COUNT")).value_or(0);
  holder.since = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  holder.up_seconds = static_cast<double>(now.tv_sec);
  return holder;
}

std::string to_text(const LockHolder& holder) {
  std::string text;
  for_each_member(
      holder, [&](const char* name, const auto& member) { text += fmt::format("{} {}\n", name, member); });
  return text;
}

std::optional<LockHolder> parse_lock_holder(std::string_view text) {
  LockHolder holder;
  std::istringstream lines{std::string(text)};
  bool is_good = true;
  for_each_member(holder, [&](const std::string& name, auto& member) {
    std::string line;
    is_good = is_good && std::getline(lines, line) && line.starts_with(name + " ");
    if (is_good) assign(line.substr(name.size() + 1), member);
  });
  is_good = is_good && holder.process > 0 && std::in_range<pid_t>(holder.process);
  return is_good ? std::optional(holder) : std::nullopt;
}

std::string describe(const LockHolder& holder) {
  return fmt::format("process {} on {}{}{}", holder.process, one_line(holder.host),
                     holder.task.empty() ? "" : ", task ", one_line(holder.task));
}

bool is_on_same_system(const LockHolder& holder, const LockHolder& asking) {
  return holder.host == asking.host && holder.boot == asking.boot && holder.name_space == asking.name_space;
}

bool is_running(const LockHolder& holder) {
  if (::kill(static_cast<pid_t>(holder.process), 0) != 0 && errno == ESRCH) return false;
  // The system may hide other users' processes here.
  const std::vector<std::string> fields = stat_fields(holder.process);
  if (fields.size() <= kStartField) return true;
  return start_of(fields) == holder.start && fields[kStateField] != "Z" && fields[kStateField] != "X";
}

}  // namespace che
