#include <fmt/format.h>

#include <string>

#include "cli/computing.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/resources.h"
#include "experiments/learn/model_factory.h"
#include "experiments/measure/device_check.h"
#include "experiments/schedule/devices.h"

namespace che {
namespace {

constexpr int kExitNoGpu = 3;

struct SelftestOptions {
  std::string device = "cuda";
  std::string json;
  bool skips_times = false;
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
  return report_selftest(backend_of(execution), {.has_times = !options.skips_times}, options.json) == 0 ? 0
                                                                                                        : 1;
}

}  // namespace

void fill_selftest_command(CLI::App& command, Action& action) {
  const auto options = set_action(command, action, selftest);
  command.footer(
      "Compares every operation, training steps with every encoding and repeated training; then times "
      "operations and steps. Exit code: 0 passed, 1 failed, 3 no GPU is visible.\n\n"
      "  che selftest --json selftest.json");
  command.add_option("--device", options->device, "cuda, or cuda:N for GPU N of those that are visible")
      ->capture_default_str();
  command.add_option("--json", options->json, "also write everything to this file");
  command.add_flag("--no-times", options->skips_times, "compare only");
}

}  // namespace che
