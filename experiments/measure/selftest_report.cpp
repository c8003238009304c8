#include "experiments/measure/selftest_report.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <torch/version.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
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

Json line_of(const SelftestCheck& check) {
  return {{"check",
           {{"name", check.name},
            {"passed", check.passed()},
            {"error", check.error},
            {"bound", check.bound},
            {"problem", check.problem}}}};
}

Json line_of(const SelftestTime& time) {
  return {{"time",
           {{"name", time.name},
            {"replicas", time.replicas},
            {"milliseconds", time.milliseconds},
            {"share_of_roofline", time.share_of_roofline},
            {"peak_mib", time.peak_bytes / 0x1p20},
            {"problem", time.problem}}}};
}

std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

void send(const Json& line) {
  fmt::print("{}", text_of(line, -1));
  if (std::fflush(stdout) != 0)
    throw Error("nobody reads the results of this self-test", ErrorKind::kRuntime);
}

// Returns what the driver says about all GPUs, a heading and a line for each, or why it says nothing.
Json driver_report() {
  try {
    const ProgramOutput told =
        run_program({"nvidia-smi", "--format=csv",
                     "--query-gpu=name,driver_version,vbios_version,pstate,clocks.sm,clocks.max.sm,"
                     "clocks.mem,clocks.max.mem,temperature.gpu,power.draw,power.limit,ecc.mode.current,"
                     "mig.mode.current,compute_mode,persistence_mode,memory.used,memory.total"});
    return told.exit_code == 0 ? told.output : told.output + told.messages;
  } catch (const Error& error) {
    return error.what();
  }
}

std::string ending(int status) {
  if (status < 0) return "its process was lost";
  if (WIFSIGNALED(status)) {
    return fmt::format("signal {} ended its process ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return fmt::format("its process ended with exit code {}", WEXITSTATUS(status));
}

// Collects what all processes told.
class Findings {
 public:
  explicit Findings(const SelftestReport& report) : report_(report) {}

  // The number of the test to go on with.
  std::int64_t next() const { return static_cast<std::int64_t>(checks_.size() + times_.size()) - extra_; }
  bool has_device() const { return !device_.is_null(); }
  bool has_ended() const { return has_ended_; }
  const std::string& begun() const { return begun_; }  // The test without a result; empty if there is none.

  void take(std::string_view text) {
    // A library may print something, too.
    const Json line = text.starts_with('{') ? Json::parse(text, nullptr, false) : Json();
    if (!line.is_object()) {
      fmt::print(stderr, "{}\n", text);
    } else if (line.contains("device")) {
      if (!has_device()) begin(line["device"]);
    } else if (line.contains("begin")) {
      begun_ = line["begin"].get<std::string>();
    } else if (line.contains("check")) {
      add_check(line["check"]);
    } else if (line.contains("time")) {
      add_time(line["time"]);
    } else {
      has_ended_ = line.contains("end");
    }
  }

  // The test that had begun has failed, or something that is none of the tests.
  void fail(const std::string& problem) {
    extra_ += begun_.empty() ? 1 : 0;
    add_check(line_of(
        SelftestCheck{.name = begun_.empty() ? "opening the GPU" : begun_, .problem = problem})["check"]);
  }

  int finish() {
    driver_at_end_ = driver_report();
    write();
    if (checks_.empty() && times_.empty()) throw Error("--only: no test has this in its name");
    const std::string count =
        fmt::format("{} passed, {} failed", static_cast<std::int64_t>(checks_.size()) - failed_, failed_);
    if (failed_ == 0) {
      fmt::print("\n{}\n", count);
      return 0;
    }
    if (!report_.command.empty()) {
      fmt::print("\nTo look into it:\n  compute-sanitizer --target-processes all {} '{}'\n", report_.command,
                 first_failure_);
    }
    fmt::print("\n{}; the first failure: {}\n", count, first_failure_);
    return 1;
  }

 private:
  void begin(const Json& device) {
    device_ = device;
    driver_ = driver_report();
    fmt::print(
        "{}: compute capability {:.1f}, {} multiprocessors, {:.1f} GiB, driver for CUDA {:.1f}; che {} ({}), "
        "LibTorch {}\n\n",
        device.at("name").get<std::string>(), device.at("compute_capability").get<double>(),
        device.at("multiprocessors").get<int>(), device.at("memory_bytes").get<double>() / 0x1p30,
        device.at("driver_version").get<double>() / 1000, program_version(), git_commit(), TORCH_VERSION);
    write();
  }

  void add_check(const Json& check) {
    const bool passed = check.at("passed").get<bool>();
    const auto name = check.at("name").get<std::string>();
    const auto problem = check.at("problem").get<std::string>();
    fmt::print("{} {}: {}\n", passed ? "passed" : "FAILED", name,
               problem.empty() ? fmt::format("error {:.1e}, allowed {:.1e}", check.at("error").get<double>(),
                                             check.at("bound").get<double>())
                               : problem);
    if (!passed && failed_++ == 0) first_failure_ = name;
    add(checks_, check);
  }

  void add_time(const Json& time) {
    const auto problem = time.at("problem").get<std::string>();
    const auto share = time.at("share_of_roofline").get<double>();
    fmt::print("{}, replicas {}: {}\n", time.at("name").get<std::string>(), time.at("replicas").get<int>(),
               problem.empty()
                   ? fmt::format("{:.3f} ms{}", time.at("milliseconds").get<double>(),
                                 share > 0 ? fmt::format(", {:.0f} % of the roofline", 100 * share) : "")
                   : problem);
    add(times_, time);
  }

  void add(Json& list, const Json& result) {
    begun_.clear();
    list.push_back(result);
    std::fflush(stdout);
    write();
  }

  void write() const {
    if (report_.json.empty()) return;
    write_output(report_.json, text_of({{"version", program_version()},
                                        {"commit", git_commit()},
                                        {"torch_version", TORCH_VERSION},
                                        {"processor", processor_name()},
                                        {"device", device_},
                                        {"driver", driver_},
                                        {"driver_at_end", driver_at_end_},
                                        {"passed", static_cast<std::int64_t>(checks_.size()) - failed_},
                                        {"failed", failed_},
                                        {"first_failure", first_failure_},
                                        {"checks", checks_},
                                        {"times", times_}},
                                       1));
  }

  const SelftestReport& report_;
  Json device_, driver_, driver_at_end_;
  Json checks_ = Json::array(), times_ = Json::array();
  std::string begun_, first_failure_;
  std::int64_t failed_ = 0;
  std::int64_t extra_ = 0;  // Checks that are none of the tests.
  bool has_ended_ = false;
};

// Reads to the end of a process' output. Returns false where it had nothing to tell for too long.
bool read_all(LineReader& lines, std::chrono::seconds limit, Findings& findings) {
  pollfd waiting{.fd = lines.descriptor(), .events = POLLIN, .revents = 0};
  while (true) {
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(limit);
    const int ready = ::poll(&waiting, 1, static_cast<int>(wait.count()));
    if (ready == 0) return false;
    if (ready > 0 && !lines.read([&](std::string_view line) { findings.take(line); })) return true;
  }
}

}  // namespace

void run_selftest_part(const Backend& device, const SelftestPlan& plan, std::int64_t first) {
  struct StateIsLost {};
  send({{"device", to_json(device.gpu->description)}});
  std::int64_t number = 0;
  const auto make = [&](const DeviceTest& test) {
    if (test.name.find(plan.only) == std::string::npos || number++ < first) return;
    send({{"begin", test.name}});
    const auto result = test.run();
    const std::string problem = std::visit([](const auto& of) { return of.problem; }, result);
    const CudaLibrary& library = *device.gpu->library;
    if (const int error = library.wait(); error != kKernelDone) {
      const std::string fault = fmt::format("CUDA error {}: {}", error, library.error_text(error));
      send(line_of(SelftestCheck{.name = test.name,
                                 .problem = problem.empty() ? fault : problem + "; then " + fault}));
      throw StateIsLost();
    }
    std::visit([](const auto& of) { send(line_of(of)); }, result);
    // An error within a capture, for example, leaves LibTorch capturing.
    if (!problem.empty()) throw StateIsLost();
  };
  try {
    check_device(device, plan, make);
    if (plan.has_times) time_device(device, plan, make);
  } catch (const StateIsLost&) {
    return;
  }
  send({{"end", true}});
}

int report_selftest(const SelftestReport& report) {
  Findings findings(report);
  while (!findings.has_ended()) {
    const std::int64_t first = findings.next();
    auto [read_end, write_end] = open_pipe();
    ProcessPlan plan = report.process(first);
    plan.descriptors.emplace_back(write_end.value(), STDOUT_FILENO);
    const StartedProcess started = start_process(plan);
    if (started.error != 0) {
      throw Error(fmt::format("cannot start {}: {}", plan.words.front(), std::strerror(started.error)),
                  ErrorKind::kRuntime);
    }
    write_end.close();
    LineReader lines(std::move(read_end));
    const bool is_in_time = read_all(lines, report.limit, findings);
    if (!is_in_time) kill(started.process, SIGKILL);
    const int status = wait_for_process(started.process);
    if (!findings.has_device() && WIFEXITED(status) && WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
    if (findings.has_ended()) break;
    const bool was_in_a_test = !findings.begun().empty();
    if (!was_in_a_test && findings.next() > first) continue;
    findings.fail(is_in_time
                      ? ending(status)
                      : fmt::format("it did not end in {} s; its process was killed", report.limit.count()));
    if (!was_in_a_test) break;
  }
  return findings.finish();
}

}  // namespace che
