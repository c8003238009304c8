#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/computing.h"
#include "cli/process_setup.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/resources.h"
#include "experiments/learn/model_factory.h"
#include "experiments/measure/selftest_report.h"
#include "experiments/schedule/devices.h"

namespace che {
namespace {

constexpr int kExitNoGpu = 3;

struct SelftestOptions {
  std::string device = "cuda";
  std::string json;
  std::string only;
  bool skips_times = false;
  std::int64_t part = -1;  // The first test of a process that report_selftest() started.
};

int selftest(const SelftestOptions& options) {
  check_output_file("--json", options.json);
  ExecutionConfig execution;
  execution.device = options.device;
  if (device_choice(options.device).kind == DeviceChoice::Kind::kCpu) {
    throw Error("--device cpu: a GPU is compared with the CPU; allowed: cuda, cuda:0, cuda:1, ...");
  }
  if (available_resources().gpus.empty()) {
    fmt::print(
        "No GPU is visible here, by NVIDIA's device files and CUDA_VISIBLE_DEVICES. Nothing was tested.\n");
    return kExitNoGpu;
  }
  RunConfig config;
  config.execution = execution;
  check_devices({config});
  if (options.part >= 0) {
    run_selftest_part(backend_of(execution), {.has_times = !options.skips_times, .only = options.only},
                      options.part);
    return 0;
  }
  // This process opens no GPU: one that serves a single process at a time serves the next one.
  const std::string program = compute_program().string();
  const auto process = [&](std::int64_t first) {
    std::vector<std::string> words{program,        "selftest", "--device",
                                   options.device, "--part",   std::to_string(first)};
    if (!options.only.empty()) words.insert(words.end(), {"--only", options.only});
    if (options.skips_times) words.emplace_back("--no-times");
    return ProcessPlan{.words = std::move(words)};
  };
  return report_selftest({.process = process,
                          .json = options.json,
                          .command = fmt::format("{} selftest --device {} --only", program, options.device)});
}

}  // namespace

void fill_selftest_command(CLI::App& command, Action& action) {
  const auto options = set_action(command, action, selftest);
  command.footer(
      "Compares every operation, training steps with every encoding and repeated training; then times "
      "operations and steps. After a fault it goes on in a new process. Exit code: 0 passed, 1 failed, 3 no "
      "GPU is visible.\n\n"
      "  che selftest --json selftest.json");
  command.add_option("--device", options->device, "cuda, or cuda:N for GPU N of those that are visible")
      ->capture_default_str();
  command.add_option("--json", options->json, "also write everything to this file, after each test");
  command.add_option("--only", options->only, "only the tests whose names contain this");
  command.add_option("--part", options->part)->group("");
  command.add_flag("--no-times", options->skips_times, "compare only");
}

}  // namespace che
