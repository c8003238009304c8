// The part of `che` that differs from che-compute: whatever needs LibTorch is handed over to che-compute.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "cli/computing.h"
#include "cli/process_setup.h"
#include "core/error.h"
#include "core/files.h"
#include "experiments/schedule/devices.h"

namespace che {
namespace {

// Replaces this process by che-compute with the same arguments, under the same name for its help.
[[noreturn]] void hand_over() {
  const std::filesystem::path program = compute_program();
  std::string line = read_file("/proc/self/cmdline");
  std::vector<char*> words;
  for (std::size_t start = 0; start < line.size(); start = line.find('\0', start) + 1) {
    words.push_back(line.data() + start);
  }
  words.push_back(nullptr);
  std::fflush(stdout);
  execv(program.c_str(), words.data());
  throw Error(fmt::format("cannot start {}: {}", program.string(), std::strerror(errno)),
              ErrorKind::kRuntime);
}

}  // namespace

void fill_computing_command(CLI::App& command, Action& action) {
  command.prefix_command();  // It takes all arguments, --help too.
  command.set_help_flag();
  command.callback([&action] { action = []() -> int { hand_over(); }; });
}

void choose_replicas(std::vector<RunConfig>& runs, std::int64_t /*workers*/) {
  if (choose_cpu_replicas(runs)) hand_over();
}

double bf16_speed(const RunConfig&) { hand_over(); }

double measured_job_bytes(const std::vector<RunConfig>&) { hand_over(); }

int show_plan(const Sweep&, const std::vector<std::string>&, const std::filesystem::path&, std::int64_t, bool,
              const std::function<void()>&) {
  hand_over();
}

WarningSink warnings_of_config(std::vector<std::string>& held) {
  return [&held](const std::string& text) { held.push_back(text); };
}

std::string describe_failure(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr
             ? "out of memory; ask for fewer or shorter samples"
             : std::string("unexpected: ") + error.what();
}

}  // namespace che
