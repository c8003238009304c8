#include "experiments/training/selftest_report.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/version.h"

namespace che {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const CudaDevice& device) {
  return {{"name", device.name},
          {"compute_capability", device.compute_capability / 10.0},
          {"multiprocessors", device.multiprocessors},
          {"driver_version", device.driver_version},
          {"runtime_version", device.runtime_version},
          {"memory_bytes", device.memory_bytes},
          {"shared_bytes", device.shared_bytes},
          {"memory_rate", device.memory_rate},
          {"multiply_add_rate", device.multiply_add_rate}};
}

Json to_json(const SelftestCheck& check) {
  return {{"name", check.name},
          {"passed", check.passed()},
          {"error", check.error},
          {"bound", check.bound},
          {"problem", check.problem}};
}

// The part of the time that is the least possible: that of its memory traffic, or of its operations without
// tensor cores. 0 where it is not known.
double share_of_roofline(const SelftestTime& time, const CudaDevice& device) {
  if (time.milliseconds == 0 || device.memory_rate == 0 || device.multiply_add_rate == 0) return 0;
  const double seconds =
      std::max(time.operations / device.multiply_add_rate, time.bytes / device.memory_rate);
  return 1e3 * seconds / time.milliseconds;
}

}  // namespace

std::int64_t report_selftest(const SelftestTarget& target, const SelftestPlan& plan,
                             const std::string& json) {
  const CudaDevice& device = target.backend.gpu->description;
  fmt::print(
      "{}: compute capability {:.1f}, {} multiprocessors, {:.1f} GiB, driver for CUDA {:.1f}; che {} ({}), "
      "LibTorch {}\n\n",
      device.name, device.compute_capability / 10.0, device.multiprocessors,
      static_cast<double>(device.memory_bytes) / 0x1p30, device.driver_version / 1000.0, program_version(),
      git_commit(), TORCH_VERSION);
  Json checks = Json::array();
  std::int64_t passed = 0;
  check_device(target.backend, plan, [&](const SelftestCheck& check) {
    checks.push_back(to_json(check));
    passed += check.passed() ? 1 : 0;
    fmt::print("{} {}: {}\n", check.passed() ? "passed" : "FAILED", check.name,
               check.problem.empty() ? fmt::format("error {:.1e}, allowed {:.1e}", check.error, check.bound)
                                     : check.problem);
    std::fflush(stdout);
  });
  Json times = Json::array();
  const auto show = [&](const SelftestTime& time) {
    const double share = share_of_roofline(time, device);
    times.push_back(Json{{"name", time.name},
                         {"replicas", time.replicas},
                         {"milliseconds", time.milliseconds},
                         {"share_of_roofline", share},
                         {"peak_mib", time.peak_bytes / 0x1p20},
                         {"problem", time.problem}});
    const std::string of_roofline = share > 0 ? fmt::format(", {:.0f} % of the roofline", 100 * share) : "";
    fmt::print(
        "{}, replicas {}: {}\n", time.name, time.replicas,
        time.problem.empty() ? fmt::format("{:.3f} ms{}", time.milliseconds, of_roofline) : time.problem);
    std::fflush(stdout);
  };
  const auto write = [&] {
    if (json.empty()) return;
    const Json report{{"version", program_version()},
                      {"commit", git_commit()},
                      {"torch_version", TORCH_VERSION},
                      {"device", to_json(device)},
                      {"passed", passed},
                      {"failed", static_cast<std::int64_t>(checks.size()) - passed},
                      {"checks", checks},
                      {"times", times}};
    write_output(json, report.dump(1) + "\n");
  };
  if (target.has_times) {
    write();
    time_operations(target.backend, plan, show);
    time_steps(target.backend, plan, show);
  }
  write();
  const auto failed = static_cast<std::int64_t>(checks.size()) - passed;
  fmt::print("\n{} passed, {} failed\n", passed, failed);
  return failed;
}

}  // namespace che
