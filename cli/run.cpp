#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/resources.h"
#include "core/text.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/sweep.h"
#include "experiments/results/other_runs.h"
#include "experiments/results/training_outcome.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/pending_work.h"
#include "experiments/schedule/progress_display.h"
#include "experiments/schedule/scheduler.h"
#include "experiments/schedule/status.h"
#include "experiments/schedule/time_left.h"
#include "experiments/schedule/worker_process.h"
#include "experiments/training/replica_choice.h"
#include "experiments/training/work_estimate.h"

namespace che {
namespace {

struct RunOptions {
  ReadConfig config;
  std::string output;
  std::int64_t workers = 0;
  std::int64_t max_jobs = 0;
  bool retrain = false;
  bool list = false;
  bool dry_run = false;
};

// The runs of a config, with replicas chosen where it leaves them open.
struct PlannedSweep {
  Sweep sweep;
  std::vector<bool> chosen = {};  // Whether the config left them open, for each run.
};

PlannedSweep plan_sweep(const RunOptions& options) {
  PlannedSweep planned{options.config.sweep()};
  for (const RunConfig& run : planned.sweep.runs) {
    planned.chosen.push_back(run.execution.replicas == kAutoReplicas);
  }
  choose_replicas(planned.sweep.runs, options.workers);
  return planned;
}

// Each run's id and, where that is more than the names in the id, what a table of these runs would call its
// cell; then the replicas that were chosen.
std::vector<std::string> describe_runs(const PlannedSweep& planned) {
  const std::vector<RunConfig>& runs = planned.sweep.runs;
  const CellLabels labels = label_cells(runs);
  std::vector<std::string> described;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [task, encoding] = labels.of[i];
    described.push_back(run_id(runs[i]));
    if (!task.settings.empty()) described.back() += " " + task.text();
    if (!encoding.settings.empty()) described.back() += " " + encoding.text();
    if (runs[i].data_seed != 0) described.back() += fmt::format(" data_seed={}", runs[i].data_seed);
    if (!planned.chosen[i]) continue;
    const std::int64_t replicas = runs[i].execution.replicas;
    described.back() += " replicas=" + (replicas == kAutoReplicas ? "auto" : std::to_string(replicas));
  }
  return described;
}

// The runs with their states; writes nothing.
int list_runs(const PlannedSweep& planned, const std::filesystem::path& experiment) {
  const Sweep& sweep = planned.sweep;
  const std::vector<std::string> described = describe_runs(planned);
  for (std::size_t i = 0; i < described.size(); ++i) {
    const ObservedRun run = observe(RunFolder::at(experiment, sweep.runs[i]));
    fmt::print("{:<11} {}\n", run.state_text(), described[i]);
  }
  return 0;
}

// What the folder holds besides the runs of the whole config, of which the sweep may be a choice.
void announce_other_runs(const Sweep& sweep, const std::filesystem::path& experiment) {
  std::vector<RunConfig> whole = sweep.runs;
  whole.insert(whole.end(), sweep.not_chosen.begin(), sweep.not_chosen.end());
  if (const auto others = other_runs(whole, experiment))
    print_progress(fmt::format("{}; tables show all runs of a folder\n", *others));
}

// The load average of the last minute: how many processes compute. Nothing where the system does not say.
std::optional<double> present_load() {
  double load = 0;
  if (::getloadavg(&load, 1) != 1) return std::nullopt;
  return std::max(0.0, load);
}

// For each run.
std::vector<bool> are_on_gpu(const std::vector<RunConfig>& runs) {
  const std::vector<std::string> gpus = available_resources().gpus;
  std::vector<bool> are;
  for (const RunConfig& run : runs) are.push_back(device_choice(run.execution.device).is_gpu(gpus));
  return are;
}

// What computes: "cpu", or "auto, here cpu: no GPU is visible".
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

// "2 to 5 min for one worker, 1 to 4 min for 2": what the runs that were measured take, by jobs.
std::string plan_time_text(const std::vector<RunConfig>& pending, const std::vector<TimeRange>& seconds,
                           std::int64_t workers, double load) {
  double threads = 1;
  std::vector<MeasuredJob> jobs;
  const std::vector<bool> on_gpu = are_on_gpu(pending);
  for (const std::vector<std::size_t>& indices : group_into_jobs(pending)) {
    MeasuredJob& job = jobs.emplace_back();
    job.is_on_gpu = on_gpu[indices.front()];
    for (const std::size_t i : indices) {
      job.time += seconds[i];
      threads = std::max(threads, static_cast<double>(usable_threads(pending[i].execution.threads)));
    }
  }
  const auto text = [&](std::int64_t count) {
    const auto processes = static_cast<double>(count);
    return duration_text(
        side_by_side(under_load(jobs, processes * threads, load, available_resources().cores), processes));
  };
  const std::string one = fmt::format("{} for one worker", text(1));
  return workers == 1 ? one : fmt::format("{}, {} for {}", one, text(workers), workers);
}

// What the ends of such a time are: "the fastest and the slowest; the longer times are with the present load
// average 1.5 on 2 cores". Of the load only where it is known and some run computes on the CPU.
std::string ends_text(const std::vector<RunConfig>& pending, std::optional<double> load) {
  const std::string steps = "the fastest and the slowest";
  if (!load || std::ranges::count(are_on_gpu(pending), false) == 0) return steps;
  return fmt::format("{}; the longer times are with the present load average {:.1f} on {}", steps, *load,
                     counted(available_resources().cores, "core"));
}

// "done", the time of one worker, or "?" where it was not measured.
std::string time_text(const RunEstimate& run) {
  if (run.needs.is_complete()) return "done";
  return run.unmeasured.empty() ? duration_text(run.seconds.middle) : "?";
}

// " (3 of them trained, test lengths missing)", of the runs that are left to do; empty for none.
std::string trained_text(std::size_t trained) {
  return trained == 0 ? "" : fmt::format(" ({} of them trained, test lengths missing)", trained);
}

// What the sweep is made of and what it would cost; runs nothing. `asked` is the number of workers, 0 for the
// default. Refuses, as prepare_training does, to train again what needs --retrain; calls
// `announce` where it refuses nothing.
int show_plan(const PlannedSweep& planned, const std::filesystem::path& folder, std::int64_t asked,
              bool retrain, const std::function<void()>& announce) {
  const Sweep& sweep = planned.sweep;
  if (const auto warning = threads_warning(sweep.runs)) print_warning(*warning);
  const std::optional<double> load = present_load();  // Before measuring adds to it.
  const WorkEstimate work = estimate_work(sweep.runs, folder);
  const std::vector<std::string> described = describe_runs(planned);
  std::vector<std::string> lost;
  for (std::size_t i = 0; i < work.runs.size(); ++i) {
    if (work.runs[i].needs.has_lost_model()) lost.push_back(run_id(sweep.runs[i]));
  }
  if (!retrain) check_models_stored(lost);
  announce();
  std::set<std::string> cells;
  std::vector<RunConfig> pending;
  std::vector<TimeRange> seconds;  // Of these.
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
  const std::int64_t workers =
      std::clamp<std::int64_t>(workers_for(pending, asked), 1, std::max<std::int64_t>(1, jobs));
  fmt::print(
      "\n{}: {} in {}, {} done; to do{}: {:.2e} floating point operations (FLOP, nominal) in training, "
      "{:.2e} in evaluation in {}",
      sweep.name, counted(sweep.runs.size(), "run"), counted(cells.size(), "cell"), work.complete,
      trained_text(trained), work.left.training, work.left.evaluation, counted(jobs, "job"));
  if (!pending.empty() && work.unmeasured < work.runs.size()) {
    fmt::print("; about {}, by measured steps of each encoding ({})",
               plan_time_text(pending, seconds, workers, load.value_or(0)), ends_text(pending, load));
  }
  if (work.unmeasured > 0) {
    fmt::print("; {} not measured and not in the time: {}", counted(work.unmeasured, "run"), unmeasured);
  }
  fmt::print("; device: {}; results folder: {}\n", device_text(sweep.runs), folder.string());
  const std::string on_gpus = gpu_time_text(pending, work, available_resources().gpus);
  if (!on_gpus.empty()) fmt::print("{}\n", on_gpus);
  return 0;
}

// A run that ended worse than it began is finished, and its score is of no use.
void warn_of_divergence(const std::vector<std::vector<RunFolder>>& jobs) {
  std::size_t count = 0;
  std::string first;
  for (const std::vector<RunFolder>& job : jobs) {
    for (const RunFolder& run : job) {
      const StoredRun stored = run.read();
      if (stored.status.state != RunState::kFinished) continue;
      const auto found = divergence(run.config(), stored.metrics);
      if (found && count++ == 0) first = fmt::format("{} {}", run.id(), divergence_text(*found));
    }
  }
  if (count == 0) return;
  print_warning(fmt::format("{} diverged; the first: {}; lower learning_rate or raise training.warmup_steps",
                            counted(count, "finished run"), first));
}

int run(const RunOptions& options) {
  const PlannedSweep planned = plan_sweep(options);
  const Sweep& sweep = planned.sweep;
  const std::filesystem::path experiment = options.output.empty()
                                               ? std::filesystem::path("results") / sweep.name
                                               : std::filesystem::path(options.output);
  if (options.list) return list_runs(planned, experiment);
  announce_other_runs(sweep, experiment);
  // Asked before the configs are stored, and said where nothing is refused.
  const std::optional<std::string> otherwise = evaluated_otherwise(sweep.runs, experiment, options.retrain);
  const auto announce_otherwise = [&] {
    if (otherwise) print_progress(*otherwise + "\n");
  };
  if (options.dry_run) {
    return show_plan(planned, experiment, options.workers, options.retrain, announce_otherwise);
  }
  check_devices(sweep.runs);  // Before anything is written.
  const PendingWork work = prepare_training(sweep.runs, experiment, options.retrain);
  announce_otherwise();
  for (const std::string& note : work.notes) print_progress(note + "\n");
  const std::int64_t workers = workers_for(work.configs, options.workers);
  print_progress(fmt::format("{}: {}, {} done, {} to do{} in {} with {}; results in {}\n", sweep.name,
                             counted(work.runs(), "run"), work.complete, work.configs.size(),
                             trained_text(work.trained), counted(work.jobs.size(), "job"),
                             counted(workers, "worker"), experiment.string()));
  const Schedule schedule{.workers = workers, .max_jobs = options.max_jobs, .evaluation = std::nullopt};
  const int code = run_jobs(work.jobs, schedule, std::filesystem::read_symlink("/proc/self/exe"));
  // An interrupted call ends at once; `che status` names diverged runs, too.
  if (stop_signal() == 0) warn_of_divergence(work.jobs);
  const std::string folder = experiment.string();
  if (code == 0) {
    print_progress(fmt::format("Next: che table {}, che plot {} or che report {}\n", folder, folder, folder));
  } else if (code == 1) {
    print_progress(
        fmt::format("Next: che status {} shows what failed; the same command tries it again\n", folder));
  }
  return code;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Train and evaluate every run of a config");
  command->footer(
      "Finished runs are skipped, interrupted ones resume, failed ones are tried again. You can interrupt it "
      "at any time; run the same command again to resume.\n\n"
      "Exit codes: 0, every run is complete; 1, a run failed, or a file could not be read or written; 2, "
      "wrong command line or config, or another "
      "che works on the folder; 75, interrupted, or --max-jobs left jobs over.");
  auto options = std::make_shared<RunOptions>();
  add_read_config(*command, options->config);
  command->add_option("-o,--output", options->output,
                      "results folder (default: results/<name of the config>)");
  command
      ->add_option("-w,--workers", options->workers,
                   "worker processes at a time (default: as many as cores and memory serve)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--max-jobs", options->max_jobs, "start at most N jobs; exit with 75 if jobs remain")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
  command->add_flag(
      "--retrain", options->retrain,
      "train runs again that lack test lengths and whose checkpoints were pruned; replaces their "
      "results");
  command->add_flag("--list", options->list,
                    "list the runs and their states; run nothing, but for steps that are measured where "
                    "execution.replicas is auto and a GPU is visible");
  command->add_flag(
      "--dry-run", options->dry_run,
      "list runs with their parameters, the operations that are left to do and the time "
      "estimated from measured steps, of a GPU too where one is asked for and visible; run nothing");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace che
