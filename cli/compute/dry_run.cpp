// `che run --dry-run`: the plan of a sweep, with times from measured steps.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/computing.h"
#include "core/error.h"
#include "core/resources.h"
#include "core/text.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/measure/cost.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/sweep.h"
#include "experiments/schedule/batch_script.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/pending_work.h"
#include "experiments/schedule/time_left.h"

namespace che {
namespace {

// The load average of the last minute: how many processes compute. Nothing where the system does not say.
std::optional<double> present_load() {
  double load = 0;
  if (::getloadavg(&load, 1) != 1) return std::nullopt;
  return std::max(0.0, load);
}

// Says for each run whether a GPU computes it.
std::vector<bool> are_on_gpu(const std::vector<RunConfig>& runs) {
  const std::vector<std::string> gpus = available_resources().gpus;
  std::vector<bool> are;
  are.reserve(runs.size());
  for (const RunConfig& run : runs) are.push_back(device_choice(run.execution.device).is_gpu(gpus));
  return are;
}

// Names the devices that compute: "cpu", or "auto, here cpu: no GPU is visible".
std::string device_text(const std::vector<RunConfig>& runs) {
  const std::vector<std::string> gpus = available_resources().gpus;
  std::set<std::string> texts;
  for (const RunConfig& run : runs) {
    const std::string& device = run.execution.device;
    if (device_choice(device).kind != DeviceChoice::Kind::kAuto) {
      texts.insert(device);
    } else {
      texts.insert(gpus.empty() ? "auto, here cpu: no GPU is visible"
                                : fmt::format("auto, here cuda: {} visible", counted(gpus.size(), "GPU")));
    }
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Returns the time of the runs that were measured: "5 min for one worker, 3 to 4 min for 2".
std::string plan_time_text(const std::vector<RunConfig>& pending, const std::vector<double>& seconds,
                           std::int64_t workers, double load) {
  double threads = 1;
  std::vector<double> jobs;
  std::vector<bool> slowed;  // Load hardly slows a job on a GPU.
  const std::vector<bool> on_gpu = are_on_gpu(pending);
  for (const std::vector<std::size_t>& indices : group_into_jobs(pending)) {
    slowed.push_back(!on_gpu[indices.front()]);
    double& job = jobs.emplace_back(0);
    for (const std::size_t i : indices) {
      job += seconds[i];
      threads = std::max(threads, static_cast<double>(usable_threads(pending[i].execution.threads)));
    }
  }
  const auto text = [&](std::int64_t count) {
    const auto processes = static_cast<double>(count);
    const double factor = slowdown(processes * threads, load, available_resources().cores);
    std::vector<double> longer = jobs;
    for (std::size_t i = 0; i < jobs.size(); ++i) longer[i] *= slowed[i] ? factor : 1;
    return duration_text(side_by_side(jobs, processes), side_by_side(longer, processes));
  };
  const std::string one = fmt::format("{} for one worker", text(1));
  return workers == 1 ? one : fmt::format("{}, {} for {}", one, text(workers), workers);
}

// Explains such a time: "the longer times are with the present load average 1.5 on 2 cores"; empty where load
// makes no difference or is unknown.
std::string load_text(const std::vector<RunConfig>& pending, std::optional<double> load) {
  constexpr double kIdle = 0.05;
  if (!load || *load < kIdle || std::ranges::count(are_on_gpu(pending), false) == 0) return "";
  return fmt::format("; longer times are with the present load average {:.1f} on {}", *load,
                     counted(available_resources().cores, "core"));
}

// Says how much memory the largest job needs: "memory of a job: about 0.6 GiB (submit --mem 700M)".
std::string memory_text(const std::vector<RunConfig>& pending) {
  if (pending.empty()) return "";
  try {
    const double bytes = job_memory_bytes(pending);
    const double available = available_resources().memory_bytes;
    const std::string lack =
        bytes > available
            ? fmt::format("; only {:.3g} GiB are available here: a job that needs more than that fails",
                          available / 0x1p30)
            : "";
    return fmt::format("memory of a job: about {:.2g} GiB (submit --mem {}){}", bytes / 0x1p30,
                       memory_request(bytes), lack);
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    return "memory of a job: more than there is here";
  }
}

// "done", the time of one worker, or "?" where it was not measured.
std::string time_text(const RunEstimate& run) {
  if (run.needs.is_complete()) return "done";
  return run.unmeasured.empty() ? duration_text(run.seconds) : "?";
}

}  // namespace

int show_plan(const Sweep& sweep, const std::vector<std::string>& described,
              const std::filesystem::path& experiment, std::int64_t workers, bool retrain,
              const std::function<void()>& announce) {
  if (const auto warning = threads_warning(sweep.runs)) print_warning(*warning);
  const std::optional<double> load = present_load();  // Before measuring adds to it.
  // LibTorch looks for CUDA in the first backward pass, which may be one on the CPU, and never again.
  const std::vector<bool> on_gpu = are_on_gpu(sweep.runs);
  for (std::size_t i = 0; i < on_gpu.size(); ++i) {
    if (on_gpu[i] && has_device(sweep.runs[i])) open_device(sweep.runs[i].execution);
  }
  const WorkEstimate work = estimate_work(sweep.runs, experiment, retrain);
  std::vector<std::string> lost;
  for (std::size_t i = 0; i < work.runs.size(); ++i) {
    if (work.runs[i].needs.has_lost_model()) lost.push_back(run_id(sweep.runs[i]));
  }
  if (!retrain) check_models_stored(lost);
  announce();
  std::set<std::string> cells;
  std::vector<RunConfig> pending;
  std::vector<double> seconds;  // Each of these has one.
  std::string unmeasured;
  const auto trained = static_cast<std::size_t>(std::ranges::count_if(
      work.runs, [](const RunEstimate& run) { return run.needs.only_lacks_lengths(); }));
  fmt::print("{:>12} {:>11} {:>13} {:>8}  {}\n", "parameters", "train FLOP", "evaluate FLOP", "time", "run");
  for (std::size_t i = 0; i < described.size(); ++i) {
    const RunEstimate& run = work.runs[i];
    fmt::print("{:>12} {:>11.2e} {:>13.2e} {:>8}  {}\n", run.parameters, run.needs.left.training,
               run.needs.left.evaluation, time_text(run), described[i]);
    cells.insert(cell_id(sweep.runs[i]));
    if (!run.needs.is_complete()) {
      pending.push_back(sweep.runs[i]);
      seconds.push_back(run.seconds);
    }
    if (unmeasured.empty()) unmeasured = run.unmeasured;
  }
  const auto jobs = static_cast<std::int64_t>(group_into_jobs(pending).size());
  // More workers than jobs have nothing to do.
  const std::int64_t processes =
      std::clamp<std::int64_t>(workers_for(pending, workers), 1, std::max<std::int64_t>(1, jobs));
  fmt::print(
      "\n{}: {} in {}, {} done; to do{}: {:.2e} floating point operations (FLOP, nominal) in training, "
      "{:.2e} in evaluation in {}",
      sweep.name, counted(sweep.runs.size(), "run"), counted(cells.size(), "cell"), work.complete,
      trained_text(trained), work.left.training, work.left.evaluation, counted(jobs, "job"));
  if (!pending.empty() && work.unmeasured < work.runs.size()) {
    fmt::print("; about {}, by measured steps of each encoding{}",
               plan_time_text(pending, seconds, processes, load.value_or(0)), load_text(pending, load));
  }
  if (work.unmeasured > 0) {
    fmt::print("; {} not measured and not in the time: {}", counted(work.unmeasured, "run"), unmeasured);
  }
  fmt::print("; device: {}; results folder: {}\n", device_text(sweep.runs), experiment.string());
  if (const std::string memory = memory_text(pending); !memory.empty()) fmt::print("{}\n", memory);
  const std::string on_gpus = gpu_time_text(pending, work, available_resources().gpus);
  if (!on_gpus.empty()) fmt::print("{}\n", on_gpus);
  return 0;
}

}  // namespace che
