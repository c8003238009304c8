#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/process_setup.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/number_text.h"
#include "core/process.h"
#include "core/text.h"
#include "experiments/exchange/bundle.h"
#include "experiments/exchange/retrained_run.h"
#include "experiments/exchange/retraining.h"
#include "experiments/plan/identity.h"
#include "experiments/schedule/devices.h"
#include "experiments/schedule/pending_work.h"
#include "experiments/schedule/progress.h"
#include "experiments/schedule/scheduler.h"
#include "texts/corpus.h"

namespace che {
namespace {

struct VerifyOptions {
  std::vector<std::string> files;
  std::string retrain;  // How many runs, or "all"; empty for none.
  RetrainingChoice::Options choice;
  std::optional<std::int64_t> seed;  // Draws the runs; a random one takes the place of none.
  double tolerance = 0.01;
  std::string output;
  std::int64_t workers = 0;
  std::string device;                // In place of the configs'; empty for theirs.
  std::vector<std::string> corpora;  // Folders of corpora that bundles name at other places.
};

void print_summary(const BundleSummary& summary, const std::string& file) {
  fmt::print("{}verified     every byte is as it was written\n", describe(summary, file));
}

// Names the programs and processors that computed the runs, each once.
std::string programs_of(const std::vector<RunFolder>& runs) {
  std::set<std::string> programs;
  for (const RunFolder& run : runs) {
    const RunStatus status = run.status();
    if (status.state == RunState::kFinished) programs.insert(computed_by(status));
  }
  return one_line(fmt::format("{}", fmt::join(programs, "; ")), kWholeText);
}

// Prints how each run compares; returns whether all have a result that agrees.
bool print_comparison(const std::vector<BundledRun>& published, const std::vector<RunFolder>& retrained,
                      double tolerance) {
  if (const std::string programs = programs_of(retrained); !programs.empty()) {
    fmt::print("trained again by {}\n", programs);
  }
  std::map<Agreement, std::size_t> counts;
  std::size_t without_result = 0;
  std::size_t further_rows = 0;
  for (std::size_t i = 0; i < published.size(); ++i) {
    const StoredRun stored = retrained[i].read();
    if (stored.status.state != RunState::kFinished || !stored.damage.empty()) {
      ++without_result;
      const std::string reason =
          stored.damage.empty() ? fmt::format("{} {}", state_name(stored.status.state), stored.status.error)
                                : stored.damage_text();
      fmt::print("{:<16}  {}: {}\n", "no result", published[i].id, one_line(reason, kWholeText));
      continue;
    }
    const RetrainingResult result =
        compare_with_published(published[i], stored.evaluation, stored.metrics, stored.at_steps, tolerance);
    ++counts[result.agreement];
    further_rows += published[i].further_rows;
    fmt::print("{:<16}  {}: {}\n", agreement_name(result.agreement), published[i].id, result.text);
  }
  fmt::print("{} trained again: {} equal, {} within tolerance, {} different, {} without a result\n",
             counted(published.size(), "run"), counts[Agreement::kEqual], counts[Agreement::kWithinTolerance],
             counts[Agreement::kDifferent], without_result);
  if (further_rows > 0) {
    fmt::print("{} that the configs do not ask for, not compared\n", counted(further_rows, "row"));
  }
  return counts[Agreement::kDifferent] == 0 && without_result == 0;
}

// Trains the chosen runs again in a results folder and compares. Returns the exit code.
int retrain(const BundleSummary& summary, const RetrainingChoice& choice, const VerifyOptions& options) {
  const std::vector<BundledRun> published = choice.chosen();
  std::vector<RunConfig> configs;
  // A run may go on from a shorter one, whose rows of training it takes over: both record as finely as the
  // finer of them.
  const auto without_steps = [](RunConfig config) {
    config.training.steps = 1;
    return run_id(config);
  };
  std::map<std::string, std::int64_t> every_steps;
  for (const BundledRun& run : published) {
    std::int64_t& every = every_steps[without_steps(run.config)];
    every = std::gcd(every, run.config.log.every_steps);
    for (const MetricsRow& row : run.metrics) {
      if (row.step < run.config.training.steps) every = std::gcd(every, row.step);
    }
  }
  for (const BundledRun& run : published) {
    RunConfig& config = configs.emplace_back(run.config);
    // The bundle may have rows of steps that its config asked for before.
    std::set<std::int64_t> steps(config.evaluation.at_steps.begin(), config.evaluation.at_steps.end());
    for (const auto& [step, rows] : run.at_steps) {
      if (step < config.training.steps) steps.insert(step);
    }
    config.evaluation.at_steps.assign(steps.begin(), steps.end());
    // Its records of training may be those of an earlier config, too, and finer or coarser.
    RunConfig recorded = config;
    std::int64_t validated = 0;
    for (const MetricsRow& row : run.metrics) {
      if (row.validation_loss) validated = std::gcd(validated, row.step);
    }
    recorded.log.every_steps = std::gcd(every_steps.at(without_steps(run.config)), validated);
    if (validated > 0) recorded.log.validation_steps = validated;
    if (!recorded.problem()) config.log = recorded.log;
    // No run is stored with auto; a forged one trains alone.
    if (config.execution.replicas == kAutoReplicas) config.execution.replicas = 1;
    if (!options.device.empty()) config.execution = on_device(config.execution, options.device);
  }
  check_devices(configs);  // Before anything is written.
  const std::filesystem::path experiment = results_folder(options.output, summary.name + "-retrained");
  const RetrainingFolder folder(experiment, configs);
  const PendingWork work = prepare_training(configs, experiment, true);
  folder.store();
  for (const auto& [reason, runs] : choice.left_out()) {
    fmt::print("left out     {} {}\n", counted(runs, "run"), reason);
  }
  const std::int64_t workers = workers_for(work.configs, options.workers);
  print_progress(fmt::format("retraining   {} of {} with {}, {} done before; results in {}\n",
                             counted(published.size(), "run"), summary.runs, counted(workers, "worker"),
                             work.complete, one_line(experiment.string(), kWholeText)));
  const Schedule schedule{.workers = workers, .to_begin_again = work.to_begin_again};
  const int code = run_jobs(work.jobs, schedule, compute_program());
  if (code == kExitAgain) {
    if (options.choice.count) {
      print_progress(fmt::format("The runs were drawn with --seed {}, which the next call needs.\n",
                                 options.choice.seed));
    }
    return code;
  }
  std::vector<RunFolder> retrained;
  retrained.reserve(configs.size());
  for (const RunConfig& config : configs) retrained.push_back(RunFolder::at(experiment, config));
  return print_comparison(published, retrained, options.tolerance) ? code : 1;
}

// Returns how many runs `--retrain` asks for, or nothing for all.
std::optional<std::size_t> parse_count(const std::string& text) {
  if (text == "all") return std::nullopt;
  const std::optional<std::int64_t> count = parse_integer(text);
  if (!count || *count < 1) {
    throw Error(fmt::format("--retrain {}: allowed: a number of runs from 1 on, or all", one_line(text)));
  }
  return static_cast<std::size_t>(*count);
}

int verify(const VerifyOptions& given) {
  VerifyOptions options = given;
  if (options.retrain.empty()) {
    bool are_complete = true;
    std::optional<Error> damage;  // The last one, after all bundles.
    for (const std::string& file : options.files) {
      try {
        const BundleSummary summary = verify_bundle(file);
        print_summary(summary, file);
        are_complete = are_complete && summary.is_complete();
      } catch (const Error& error) {
        if (damage) print_warning(damage->what());
        damage = error;
      }
    }
    if (damage) throw Error(*damage);
    return are_complete ? 0 : 1;
  }
  if (options.files.size() != 1) throw Error("--retrain: takes one bundle at a time");
  if (!(options.tolerance >= 0 && options.tolerance <= 1)) {
    throw Error(fmt::format("--tolerance: got {}; allowed: {}", options.tolerance, allowed_reals(0, 1)));
  }
  if (!options.device.empty()) device_choice(options.device);  // Refuses what is none.
  options.choice.count = parse_count(options.retrain);
  // Whoever made the bundle must not know which runs are drawn.
  options.choice.seed = options.seed.value_or(static_cast<std::int64_t>(std::random_device()()));
  RetrainingChoice choice(options.choice);
  const std::string& file = options.files.front();
  std::map<std::string, std::string> folder_of;  // By the corpus' hash.
  for (const std::string& corpus : options.corpora) {
    const std::filesystem::path folder = std::filesystem::absolute(corpus);
    folder_of[read_corpus_card(folder).hash()] = folder.string();
  }
  const BundleSummary summary = verify_bundle(file, [&](BundledRun run) {
    const auto folder = folder_of.find(run.config.text.hash);
    if (folder != folder_of.end()) run.config.text.corpus = folder->second;
    choice.consider(std::move(run));
  });
  print_summary(summary, file);
  if (options.choice.count) fmt::print("drawn        with --seed {}\n", options.choice.seed);
  return std::max(retrain(summary, choice, options), summary.is_complete() ? 0 : 1);
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "verify", "Check every byte of bundles, say what they hold, and train runs of one again on request");
  const auto options = set_action(*command, action, verify);
  command->footer(
      "Nothing is unpacked. Exit code 2 for a bundle that is damaged or holds anything that `che bundle` "
      "does not write, which is named; 1 for a whole one in which some run has no score, and with --retrain "
      "where a run trained again has no result or is different.");
  command->add_option("BUNDLE", options->files, "files that `che bundle` wrote")->required();
  CLI::Option* const retrain =
      command
          ->add_option("--retrain", options->retrain,
                       "train N finished runs of the bundle again from their configs, or all of them, and "
                       "compare: equal, within tolerance, or different")
          ->type_name("N|all");
  command
      ->add_option("--tolerance", options->tolerance,
                   "accuracies (0 to 1), and losses of texts, that differ by no more than this are within "
                   "tolerance (default 0.01)")
      ->needs(retrain);
  command
      ->add_option("--seed", options->seed,
                   "which N runs are drawn (default: a random one, which is printed); needed to go on with "
                   "N runs after an interruption")
      ->needs(retrain);
  for (CLI::Option* const option : add_conditions(*command, options->choice.conditions)) {
    option->needs(retrain);
  }
  command
      ->add_option("-o,--output", options->output,
                   "results folder of the new runs (default: results/<name>-retrained); a run that this "
                   "command has finished there is not trained once more")
      ->needs(retrain);
  command
      ->add_option(
          "--corpus", options->corpora,
          "folder of a corpus that the bundle's runs are about, which lies elsewhere here; can be given "
          "several times")
      ->type_name("FOLDER")
      ->allow_extra_args(false)
      ->needs(retrain);
  add_workers_option(*command, options->workers)->needs(retrain);
  command
      ->add_option("--device", options->device,
                   "what computes, cpu, cuda or auto, in place of what the configs say")
      ->needs(retrain);
}

}  // namespace che
