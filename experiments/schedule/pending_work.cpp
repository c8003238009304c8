#include "experiments/schedule/pending_work.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/files.h"
#include "core/parallel.h"
#include "core/process.h"
#include "core/text.h"
#include "core/version.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_workload.h"
#include "experiments/results/text_rows.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/needs.h"
#include "experiments/store/run_files.h"

namespace che {

namespace fs = std::filesystem;

namespace {

// The runs of a call that have passed steps at which they were to be evaluated.
struct PassedRuns {
  PassedSteps runs;
  std::string first;  // Its id.

  std::string text() const {
    std::set<std::int64_t> steps;
    for (const auto& [id, of_run] : runs) steps.insert(of_run.begin(), of_run.end());
    return fmt::format(
        "{} passed evaluation.at_steps {}, of which rows at the config's lengths and samples are not stored: "
        "they cannot be measured any more without --retrain, which trains again and replaces results; {} the "
        "first",
        counted(runs.size(), "run"), fmt::join(steps, ", "), first);
  }
};

// The runs of a call that go on from where they or shorter runs were. Another build or processor rounds
// otherwise, so that the continued run is not bit for bit the run that one program trains; a note says where
// this happens.
class ContinuedRuns {
 public:
  void add(const RunFolder& run, const RunNeeds& needs) {
    const bool is_of_shorter = !needs.continues.empty();
    if (is_of_shorter && count_++ == 0) {
      first_ = fmt::format("{} goes on from step {} of {}", run.id(), needs.first_step, needs.continues);
    }
    if (!is_of_shorter && needs.is_damaged) return;
    const std::string& begun = is_of_shorter ? needs.continues : run.id();
    // Its own config may be damaged, and is written anew below.
    const RunStatus status =
        (is_of_shorter ? RunFolder::open(run.path().parent_path() / begun) : run).status();
    RunStatus here = here_;
    // The stored device stands for a GPU's, because this program sees none.
    here.device = status.device.starts_with("cuda") ? status.device : cpu_text(run.config().execution);
    const bool is_same = status.earlier.empty() && computed_by(status) == computed_by(here);
    if (status.git_commit.empty() || is_same) return;
    if (others_++ > 0) return;
    others_text_ =
        one_line(fmt::format("{} was worked on by {}{}{}, here is {}", begun, status.earlier,
                             status.earlier.empty() ? "" : "; ", computed_by(status), computed_by(here)),
                 kWholeText);
  }

  void describe(std::vector<std::string>& notes) const {
    if (count_ > 0) {
      notes.push_back(count_ == 1
                          ? first_
                          : fmt::format("{} go on from shorter runs; {}", counted(count_, "run"), first_));
    }
    if (others_ == 0) return;
    notes.push_back(
        fmt::format("{} on from what another program, processor or setting worked on: results are close to "
                    "those of one, not bit for bit equal; {}",
                    others_ == 1 ? "1 run goes" : fmt::format("{} runs go", others_), others_text_));
  }

 private:
  static RunStatus here() {
    RunStatus status;
    status.git_commit = git_commit();
    status.version = program_version();
    status.processor = processor_name();
    return status;
  }

  RunStatus here_ = here();
  std::size_t count_ = 0;
  std::string first_;
  std::size_t others_ = 0;
  std::string others_text_;
};

// Throws Error (usage) where a text of these runs has the name of another one, of these or of the stored
// runs: no table of the folder could be made.
void check_texts(const std::vector<RunFolder>& runs, const fs::path& experiment) {
  if (std::ranges::none_of(runs, [](const RunFolder& run) { return run.config().has_text(); })) return;
  std::vector<RunFolder> all;
  try {
    all = find_runs(experiment).runs;
  } catch (const Error& error) {  // There is none yet.
    if (error.kind() != ErrorKind::kUsage) throw;
  }
  all.insert(all.end(), runs.begin(), runs.end());
  check_corpora(all);
}

// The runs of a call that do not get the log that is asked for.
struct OtherLogs {
  std::vector<std::string> of_training;     // A finished training keeps its own.
  std::vector<std::string> without_events;  // A complete run computes nothing.

  void add(const LogConfig& asked, const RunFolder& run, const RunNeeds& needs) {
    const LogConfig& kept = run.config().log;
    if (asked.every_steps != kept.every_steps || asked.validation_steps != kept.validation_steps) {
      of_training.push_back(run.id());
    }
    if (asked.tensorboard && needs.is_complete() && !is_present(run.path() / kEventsFile)) {
      without_events.push_back(run.id());
    }
  }

  void describe(std::vector<std::string>& notes) const {
    if (!of_training.empty()) {
      notes.push_back(
          fmt::format("log.every_steps and log.validation_steps stay as stored in {}, whose training was "
                      "finished; {} the first",
                      counted(of_training.size(), "run"), of_training.front()));
    }
    if (!without_events.empty()) {
      notes.push_back(fmt::format("log.tensorboard adds no event file to {}; {} the first",
                                  counted(without_events.size(), "complete run"), without_events.front()));
    }
  }
};

}  // namespace

PendingWork prepare_training(const std::vector<RunConfig>& runs, const fs::path& experiment, bool retrain) {
  if (std::ranges::count(runs, kAutoReplicas, [](const RunConfig& run) { return run.execution.replicas; }) >
      0) {
    throw Error(
        "execution.replicas: auto measures on the device of the runs, and this machine does not have it; set "
        "a whole number");
  }
  create_writable_folder(experiment);
  PendingWork work{.lock = FileLock(experiment), .jobs = {}, .configs = {}};
  std::vector<RunFolder> folders;
  std::vector<RunFolder> pending;
  std::vector<std::string> lost;
  std::vector<std::string> without_predictions;
  std::set<std::string> failed;
  PassedRuns passed;
  ContinuedRuns continued;
  OtherLogs other_logs;
  folders.reserve(runs.size());
  struct Looked {
    RunFolder folder;
    RunNeeds needs;
    std::vector<std::int64_t> passed;  // What only a run that begins again can measure.
    std::vector<std::string> warnings;
  };
  const StoredRuns stored(experiment);
  const auto look = [&](std::size_t i) {
    std::vector<std::string> warnings;
    RunFolder folder =
        RunFolder::at(experiment, runs[i], [&](const std::string& text) { warnings.push_back(text); });
    RunNeeds needs = assess(folder, stored);
    std::vector<std::int64_t> steps;
    if (needs.may_begin_again()) steps = needs.passed;
    if (retrain && needs.may_be_retrained()) needs = assess_anew(folder, stored);
    return Looked{std::move(folder), std::move(needs), std::move(steps), std::move(warnings)};
  };
  for_each_in_order(runs.size(), look, [&](std::size_t i, Looked looked) {
    for (const std::string& warning : looked.warnings) print_warning(warning);
    RunFolder& folder = folders.emplace_back(std::move(looked.folder));
    const RunNeeds& needs = looked.needs;
    if (!looked.passed.empty()) {
      if (passed.runs.empty()) passed.first = folder.id();
      passed.runs[folder.id()] = std::move(looked.passed);
    }
    other_logs.add(runs[i].log, folder, needs);
    if (needs.has_lost_predictions) without_predictions.push_back(folder.id());
    if (needs.is_complete()) {
      ++work.complete;
      folder.keep_execution();
      return;
    }
    if (!needs.continues.empty() || needs.has_model) continued.add(folder, needs);
    pending.push_back(folder);
    work.configs.push_back(folder.config());  // Its log may be that of the stored training.
    if (needs.only_lacks_lengths()) ++work.trained;
    if (needs.has_lost_model()) lost.push_back(folder.id());
    if (needs.state == RunState::kFailed) failed.insert(folder.id());
  });
  if (!retrain) check_models_stored(lost);
  check_texts(folders, experiment);
  for (const RunFolder& folder : folders) folder.store_config();
  if (!passed.runs.empty() && !retrain) work.notes.push_back(passed.text());
  if (!without_predictions.empty()) {
    work.notes.push_back(fmt::format(
        "{} counted as done without the predictions that evaluation.predictions asks for: no model is "
        "stored that could write them, as after `che unpack`, and --retrain, which replaces results, would "
        "train again; {} the first",
        counted(without_predictions.size(), "run"), without_predictions.front()));
  }
  other_logs.describe(work.notes);
  continued.describe(work.notes);
  if (retrain) work.to_begin_again = std::move(passed.runs);
  for (const std::vector<std::size_t>& indices : group_into_jobs(work.configs)) {
    std::vector<RunFolder>& job = work.jobs.emplace_back();
    for (const std::size_t index : indices) job.push_back(pending[index]);
  }
  // With --max-jobs a run that fails each time would keep the others from ever starting.
  std::stable_partition(work.jobs.begin(), work.jobs.end(), [&](const std::vector<RunFolder>& job) {
    return std::ranges::none_of(job, [&](const RunFolder& run) { return failed.contains(run.id()); });
  });
  return work;
}

void begin_again(const fs::path& experiment, const PassedSteps& passed) {
  for (const auto& [id, steps] : passed) {
    const RunFolder run = RunFolder::open(experiment / "runs" / id);
    // An earlier call may have done it, and another process may do it just now.
    const auto is_done = [&, &asked = steps] {
      const std::vector<std::int64_t> still = assess(run).passed;
      return std::ranges::find_first_of(still, asked) == still.end();
    };
    if (is_done()) continue;
    const FileLock lock(run.path());
    if (is_done()) continue;
    run.set_evaluation_aside();
    run.set_at_steps_aside();
    run.write_status({});
    remove_checkpoints(run.path());
    run.set_metrics_aside();
  }
}

void check_models_stored(const std::vector<std::string>& lost) {
  if (lost.empty()) return;
  throw Error(fmt::format(
      "cannot measure the missing test lengths, or windows and positions of a text, of {}, {} the first: no "
      "checkpoint is stored (pruned or damaged?); ask for what is there, or give --retrain to train again, "
      "which replaces results",
      counted(lost.size(), "trained run"), lost.front()));
}

PendingWork prepare_evaluation(const fs::path& experiment, const EvaluationRequest& request,
                               const RunChoice& choice, const WarningSink& warn) {
  std::size_t left_out = 0;
  const auto leave_out = [&](const std::string& reason) {
    ++left_out;
    warn(reason);
  };
  std::vector<RunFolder> runs = choice.of(open_runs(experiment, leave_out), warn);
  PendingWork work{.lock = FileLock(experiment), .jobs = {}, .configs = {}};
  std::size_t waiting = 0;
  std::size_t other_encodings = 0;
  std::string why_not;               // The first of those that would take the settings with others.
  std::vector<std::string> refused;  // Runs that cannot be measured so, with the reasons.
  const auto refuse = [&](const RunFolder& run, const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw error;
    refused.push_back(fmt::format("{}: {}", run.path().string(), error.what()));
  };
  std::vector<RunFolder> without_model;
  for (RunFolder& run : runs) {
    const StoredRun stored = run.read();
    const bool fits = request.fits(run.config());
    RunConfig asked = run.config();
    try {
      if (fits) asked = request.applied_to(asked);
      if (fits && request.evaluation_settings) {
        EvaluationRequest without_settings = request;
        without_settings.evaluation_settings.reset();
        without_settings.applied_to(run.config()).check();
      }
      // A further problem is a setting that the run's positions or other settings do not allow.
      const auto problem = fits && request.evaluation_settings ? asked.problem() : std::nullopt;
      if (!fits || problem) {
        if (problem && why_not.empty()) why_not = fmt::format(": {}: {}", run.id(), problem->message());
        ++other_encodings;
        continue;
      }
      asked.check();
      if (const auto idle = asked.idle_setting(); idle && request.evaluation_settings) {
        throw Error(fmt::format("--set: {}", idle->message()));
      }
    } catch (const Error& error) {
      refuse(run, error);
      continue;
    }
    const RunNeeds needs = assess(asked, stored, has_checkpoint(run.path()));
    if (needs.is_complete()) {
      ++work.complete;
    } else if (run.config().is_foreign()) {
      leave_out(
          fmt::format("left out: {} has predictions of a model outside che; `che score` measures it at "
                      "further lengths",
                      run.path().string()));
    } else if (!run.config().is_drawn()) {
      leave_out(
          fmt::format("left out: {} was measured on version {} of the task, of which this che draws no "
                      "samples",
                      run.path().string(), run.config().task.version));
    } else if (needs.is_damaged) {
      leave_out("left out: " + stored.damage_text());
    } else if (needs.state == RunState::kWaiting) {
      ++waiting;
    } else if (needs.state != RunState::kFinished) {
      leave_out(fmt::format("left out: {} is not finished but {}; `che run` trains it", run.path().string(),
                            state_name(needs.state)));
    } else if (needs.has_lost_model()) {
      without_model.push_back(std::move(run));
    } else {
      try {
        check_windows(asked);
      } catch (const Error& error) {
        refuse(run, error);
        continue;
      }
      work.configs.push_back(asked);
      work.jobs.push_back({std::move(run)});
    }
  }
  if (!refused.empty() && refused.size() + other_encodings == runs.size()) throw Error(refused.front());
  for (const std::string& reason : refused) leave_out("left out: " + reason);
  if (!without_model.empty()) {
    warn(fmt::format(
        "left out: {} of {}, whose models are no longer stored, {} the first; to train these again, which "
        "replaces their results: {}",
        without_model.size(), counted(runs.size(), "run"), without_model.front().id(),
        retraining_commands(without_model.front())));
  }
  if (waiting > 0) {
    warn(fmt::format("left out: {} of {} waiting; `che run` trains them", waiting,
                     counted(runs.size(), "run")));
  }
  if (other_encodings == runs.size() && !runs.empty()) {
    throw Error(fmt::format("no run has an encoding or a model that takes {}{}",
                            evaluation_settings_text(*request.evaluation_settings), why_not));
  }
  if (other_encodings > 0) {
    warn(fmt::format("passed over: {} that {} not take {}", counted(other_encodings, "run"),
                     other_encodings == 1 ? "does" : "do",
                     evaluation_settings_text(*request.evaluation_settings)));
  }
  work.left_out = left_out + waiting + without_model.size();
  return work;
}

}  // namespace che
