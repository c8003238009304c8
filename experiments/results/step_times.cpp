#include "experiments/results/step_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_config.h"
#include "experiments/results/columns.h"
#include "experiments/statistics/score_summary.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/needs.h"

namespace che {
namespace {

// Returns milliseconds, or nothing for a run that was not trained.
std::optional<double> step_time(const std::vector<MetricsRow>& rows) {
  if (rows.empty()) return std::nullopt;
  std::vector<double> times;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    times.push_back(1000 * (rows[i].seconds - rows[i - 1].seconds) /
                    static_cast<double>(rows[i].step - rows[i - 1].step));
  }
  if (times.empty()) times.push_back(1000 * rows[0].seconds / static_cast<double>(rows[0].step));
  return aggregate_of(std::move(times), Aggregate::kMedian);
}

// Returns milliseconds. The time includes evaluations during training.
double batch_time(const StoredRun& stored, const EvaluationConfig& evaluation) {
  std::size_t rows = stored.evaluation.size();
  for (const auto& [step, of_step] : stored.at_steps) rows += of_step.size();
  const std::int64_t batches_per_row = evaluation.samples / kEvaluationBatch;
  const std::int64_t batches = static_cast<std::int64_t>(rows) * batches_per_row;
  return 1000 * stored.status.evaluation_seconds / static_cast<double>(batches);
}

// Returns the runs' configs with the default lengths: lengths are columns, and part of no label.
std::vector<RunConfig> configs_to_label(const std::vector<RunFolder>& runs) {
  const RunConfig defaults;
  std::vector<RunConfig> configs;
  for (const RunFolder& run : runs) {
    RunConfig& config = configs.emplace_back(run.config());
    config.training.first_length = defaults.training.first_length;
    config.training.last_length = defaults.training.last_length;
    config.evaluation.first_length = defaults.evaluation.first_length;
    config.evaluation.last_length = defaults.evaluation.last_length;
    config.evaluation.length_step = defaults.evaluation.length_step;
    config.evaluation.listed_lengths.clear();
    config.evaluation.at_steps.clear();
    config.evaluation.predictions = defaults.evaluation.predictions;
    config.log.every_steps = defaults.log.every_steps;
  }
  return configs;
}

void warn_of_unfinished(const RunFolder& run, const StoredRun& stored, const RunNeeds& needs,
                        const WarningSink& warn) {
  const std::string state = needs.is_damaged                     ? kDamaged
                            : needs.state == RunState::kFinished ? "not evaluated at every length"
                                                                 : state_name(needs.state);
  const std::string reason = needs.is_damaged ? stored.damage_text() : stored.status.error;
  warn(fmt::format("left out: {} is {}{}{}", run.id(), state, reason.empty() ? "" : ": ", reason));
}

std::vector<CellKey> keys_of(const std::vector<RunFolder>& runs) {
  std::vector<CellKey> keys =
      label_cells(configs_to_label(runs), {Role::kCell, Role::kEvaluation, Role::kExecution}).of;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (runs[i].config().has_text()) keys[i].task.settings.clear();  // Its lengths alone.
  }
  return keys;
}

// Returns the labels that none of the chosen runs has.
std::vector<EncodingLabel> labels_without(const std::vector<RunFolder>& all,
                                          const std::vector<RunFolder>& chosen) {
  std::set<std::string> kept;
  for (const RunFolder& run : chosen) kept.insert(run.id());
  const std::vector<CellKey> keys = keys_of(all);
  std::set<EncodingLabel> of_chosen;
  std::set<EncodingLabel> of_others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    (kept.contains(all[i].id()) ? of_chosen : of_others).insert(keys[i].encoding);
  }
  return columns_without(of_others, of_chosen);
}

}  // namespace

StepTimes step_times(std::vector<RunFolder> all, const RunChoice& choice, const WarningSink& warn) {
  std::vector<RunFolder> runs = choice.of(all, warn);
  const std::size_t chosen = runs.size();
  for (std::vector<RunFolder>* const some : {&all, &runs}) {
    std::erase_if(*some, [](const RunFolder& run) { return run.config().is_foreign(); });
  }
  if (runs.empty()) {
    throw Error("all these runs are of models outside che, which have no times; allowed: runs of `che run`");
  }
  if (runs.size() < chosen) {
    warn(fmt::format("left out: {} of {}, of models outside che, which have no times", chosen - runs.size(),
                     counted(chosen, "run")));
  }
  const std::vector<CellKey> keys = keys_of(runs);
  StepTimes result;
  std::set<EncodingLabel> labels;
  std::set<EncodingLabel> unfinished;
  std::size_t waiting = 0;
  std::size_t other_rows = 0;
  std::string one_of_them;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunConfig& config = runs[i].config();
    const StoredRun stored = runs[i].read();
    const RunNeeds needs = assess(config, stored, has_checkpoint(runs[i].path()));
    const auto& [task, label] = keys[i];
    if (!needs.is_complete()) unfinished.insert(label);
    if (!needs.is_begun()) {
      ++waiting;
      continue;
    }
    if (!needs.is_complete()) {
      warn_of_unfinished(runs[i], stored, needs, warn);
      continue;
    }
    labels.insert(label);
    TaskTimes& times = result.tasks[task];
    const TrainingConfig& training = config.training;
    const EvaluationConfig evaluation = with_exact_lengths(config.evaluation);
    if (!stored.status.earlier.empty()) result.with_earlier.push_back(runs[i].id());
    result.hardware.insert(hardware_of(stored.status));
    result.has_shared_jobs = result.has_shared_jobs || config.execution.replicas > 1;
    if (const auto step = step_time(stored.metrics)) {
      times.step[label][{training.first_length, training.last_length, 1, {}}].push_back(*step);
    }
    // A continued run has rows at steps of the run that it goes on from, and not their time.
    const bool has_others_rows = !stored.status.continued_from.empty() && !stored.at_steps.empty();
    if (stored.evaluation.size() != evaluation.lengths().size() || has_others_rows) {
      if (other_rows++ == 0) one_of_them = runs[i].id();
    } else if (stored.status.evaluation_seconds > 0) {
      const std::vector<std::int64_t> lengths = evaluation.lengths();
      const bool is_range = evaluation.listed_lengths.empty();
      const LengthRange range{lengths.front(), lengths.back(), is_range ? evaluation.length_step : 0,
                              evaluation.listed_lengths};
      times.batch[label][range].push_back(batch_time(stored, evaluation));
    }
  }
  if (waiting > 0) {
    warn(fmt::format("left out: {} of {}, not begun", waiting, counted(chosen, "run")));
  }
  if (other_rows > 0) {
    warn(fmt::format(
        "left out: the test batches of {} of {}, whose evaluation time is of other rows than those that "
        "their configs ask for, such as {}",
        other_rows, counted(chosen, "run"), one_of_them));
  }
  if (labels.empty()) throw Error("no run is finished and undamaged; `che run` continues them");
  result.encodings.assign(labels.begin(), labels.end());
  std::sort(result.encodings.begin(), result.encodings.end(), encoding_before);
  result.unfinished = columns_without(unfinished, labels);
  if (runs.size() < all.size()) result.not_chosen = labels_without(all, runs);
  return result;
}

}  // namespace che
