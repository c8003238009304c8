#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/computing.h"
#include "cli/process_setup.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/process.h"
#include "core/text.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/sweep.h"
#include "experiments/results/other_runs.h"
#include "experiments/results/training_outcome.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/pending_work.h"
#include "experiments/schedule/progress.h"
#include "experiments/schedule/scheduler.h"
#include "experiments/schedule/status.h"

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

// The runs of a config, with precision and replicas chosen where it leaves them open, but for --list.
struct PlannedSweep {
  Sweep sweep;
  // Printed once it is certain that this program is not replaced by che-compute, which prints them, too.
  std::vector<std::string> warnings = {};
  std::vector<std::string> notes = {};
  std::vector<bool> chosen = {};  // Whether the config left replicas open, for each run.
};

PlannedSweep plan_sweep(const RunOptions& options) {
  PlannedSweep planned;
  planned.sweep = options.config.sweep(warnings_of_config(planned.warnings));
  for (const RunConfig& run : planned.sweep.runs) {
    planned.chosen.push_back(run.execution.replicas == kAutoReplicas);
  }
  const std::filesystem::path experiment = results_folder(options.output, planned.sweep.name);
  if (options.list) {  // This chooses what needs no measurement.
    choose_precision(planned.sweep.runs, experiment, nullptr);
    choose_cpu_replicas(planned.sweep.runs);
    return planned;
  }
  planned.notes = choose_precision(planned.sweep.runs, experiment, bf16_speed);
  // Nobody checked the others; what matters is which folders are theirs.
  choose_precision(planned.sweep.not_chosen, experiment, bf16_speed, /*has_bf16=*/false);
  choose_replicas(planned.sweep.runs, options.workers);
  return planned;
}

// Returns each run's id, then what a table of these runs would call its cell, where that is more than the
// names in the id, and the replicas that were chosen.
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
    if (runs[i].execution.precision == Precision::kAuto) described.back() += " precision=auto";
    if (!planned.chosen[i]) continue;
    const std::int64_t replicas = runs[i].execution.replicas;
    described.back() += " replicas=" + (replicas == kAutoReplicas ? "auto" : std::to_string(replicas));
  }
  return described;
}

// Prints the runs with their states; writes nothing.
int list_runs(const PlannedSweep& planned, const std::filesystem::path& experiment) {
  const Sweep& sweep = planned.sweep;
  const std::vector<std::string> described = describe_runs(planned);
  for (std::size_t i = 0; i < described.size(); ++i) {
    const ObservedRun run = observe(RunFolder::at(experiment, sweep.runs[i]));
    fmt::print("{:<11} {}\n", run.state_text(), described[i]);
  }
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
  print_warning(fmt::format(
      "{} diverged; the first: {}; lower learning_rate, raise training.warmup_steps, or train for more steps",
      counted(count, "finished run"), first));
}

int run(const RunOptions& options) {
  const PlannedSweep planned = plan_sweep(options);
  const Sweep& sweep = planned.sweep;
  const std::filesystem::path experiment = results_folder(options.output, sweep.name);
  const auto warn = [&] {
    for (const std::string& warning : planned.warnings) print_warning(warning);
    for (const std::string& note : planned.notes) print_progress(note + "\n");
  };
  if (options.list) {
    warn();
    return list_runs(planned, experiment);
  }
  // Read before the configs are stored, and printed where nothing is refused.
  const std::optional<std::string> otherwise = evaluated_otherwise(sweep.runs, experiment, options.retrain);
  const auto announce_otherwise = [&] {
    if (otherwise) print_progress(*otherwise + "\n");
  };
  if (options.dry_run) {
    return show_plan(sweep, describe_runs(planned), experiment, options.workers, options.retrain, [&] {
      warn();
      announce_other_runs(sweep, experiment);
      announce_otherwise();
    });
  }
  warn();
  announce_other_runs(sweep, experiment);
  // This must come before anything is written.
  check_devices(sweep.runs);
  const std::filesystem::path program = compute_program();
  const PendingWork work = prepare_training(sweep.runs, experiment, options.retrain);
  announce_otherwise();
  for (const std::string& note : work.notes) print_progress(note + "\n");
  if (const std::size_t again = work.to_begin_again.size(); again > 0) {
    print_progress(fmt::format(
        "to begin again: {}; as a job starts, its models go, and its rows stay in files *.replaced\n",
        counted(again, "run")));
  }
  const std::int64_t workers = workers_for(work.configs, options.workers);
  print_progress(fmt::format("{}: {}, {} done, {} to do{} in {} with {}; results in {}\n", sweep.name,
                             counted(work.runs(), "run"), work.complete, work.configs.size(),
                             trained_text(work.trained), counted(work.jobs.size(), "job"),
                             counted(workers, "worker"), one_line(experiment.string(), kWholeText)));
  const Schedule schedule{
      .workers = workers, .max_jobs = options.max_jobs, .to_begin_again = work.to_begin_again};
  const int code = run_jobs(work.jobs, schedule, program);
  // An interrupted call ends at once; `che status` names diverged runs, too.
  if (stop_signal() == 0) warn_of_divergence(work.jobs);
  const std::string folder = one_line(shell_word(experiment.string()), kWholeText);
  if (code == 0) {
    print_progress(fmt::format("Next: che table {}, che plot {} or che report {}\n", folder, folder, folder));
  } else if (code == 1) {
    print_progress(
        fmt::format("Next: che status {} shows what failed; the same command tries it again\n", folder));
  }
  return code;
}

}  // namespace

void announce_other_runs(const Sweep& sweep, const std::filesystem::path& experiment) {
  std::vector<RunConfig> whole = sweep.runs;
  whole.insert(whole.end(), sweep.not_chosen.begin(), sweep.not_chosen.end());
  if (const auto others = other_runs(whole, experiment))
    print_progress(fmt::format("{}; tables show all runs of a folder\n", *others));
}

std::string trained_text(std::size_t trained) {
  return trained == 0 ? "" : fmt::format(" ({} of them trained, test lengths missing)", trained);
}

void add_run_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Train and evaluate every run of a config");
  const auto options = set_action(*command, action, run);
  command->footer(
      "Finished runs are skipped, interrupted ones resume, failed ones are tried again, after the others. "
      "You can interrupt it at any time; run the same command again to resume.\n\n"
      "Exit codes: 0, every run is complete; 1, a run failed, or a file could not be read or written; 2, "
      "wrong command line or config, or another "
      "che works on the folder; 75, interrupted, or --max-jobs left jobs over and none failed.");
  add_read_config(*command, options->config);
  command->add_option("-o,--output", options->output,
                      "results folder (default: results/<name of the config>)");
  add_workers_option(*command, options->workers);
  command->add_option("--max-jobs", options->max_jobs, "start at most N jobs; exit with 75 if jobs remain")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
  command->add_flag(
      "--retrain", options->retrain,
      "train runs again whose checkpoints were pruned and that lack test lengths, and runs that have passed "
      "steps of evaluation.at_steps; replaces their results");
  command->add_flag("--list", options->list,
                    "list the runs and their states; run and measure nothing: what a measurement decides "
                    "on is shown as auto, with the id of a run in fp32");
  command
      ->add_flag("--dry-run", options->dry_run,
                 "list runs with their parameters, the operations that are left to do and the time estimated "
                 "from measured steps, of a GPU too where one is asked for and visible; run nothing")
      ->excludes("--list");
}

}  // namespace che
