#include "experiments/exchange/bundled_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "experiments/exchange/archive.h"
#include "experiments/exchange/stored_predictions.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/store/run_files.h"
#include "experiments/store/run_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.yaml";
constexpr const char* kStatus = "status.json";
// The files of a run, beside kept predictions. A run may lack all but the first.
constexpr std::array kRunFiles = {kConfig,       "evaluation.csv", "evaluation_at_steps.csv",
                                  "metrics.csv", "positions.csv",  kStatus,
                                  "windows.csv"};
// Losses are summed in single precision on the way.
constexpr double kLossTolerance = 1e-4;

bool is_from_zero(double value) { return std::isfinite(value) && value >= 0; }

// The loss of a model of che is NaN where its logits are not finite, and infinite where a probability is 0.
bool is_loss(double value) { return std::isnan(value) || value > -kLossTolerance; }

void check_settings(const RunConfig& config, const EvaluationRow& row) {
  try {
    if (!row.encoding_settings.empty()) config_of_row(config, row.encoding_settings);
  } catch (const Error& error) {
    throw Error(fmt::format("length {}: {}", row.length, error.what()));
  }
}

// Throws Error for a row of an evaluation that the run cannot have, but for its settings.
void check_row(const RunConfig& config, const Task* task, const EvaluationRow& row) {
  if (row.samples < 1 || row.samples % kEvaluationBatch != 0) {
    throw Error(fmt::format("{} samples at length {}; allowed: multiples of {}", row.samples, row.length,
                            kEvaluationBatch));
  }
  if (row.samples == kEvaluationBatch && row.accuracy_se) {
    throw Error(
        fmt::format("the standard error {} at length {}; allowed: none of a single batch of {} samples",
                    *row.accuracy_se, row.length, row.samples));
  }
  if (!is_loss(row.loss)) {
    throw Error(fmt::format("the loss {} at length {}; allowed: a number from 0 on", row.loss, row.length));
  }
  if (config.is_foreign() && !config.has_text() && !std::isnan(row.loss)) {
    throw Error(fmt::format("the loss {} at length {}; allowed: nan, as predictions on a task have none",
                            row.loss, row.length));
  }
  if (!row.windows.empty()) {
    double sum = 0;
    for (const WindowLoss& one : row.windows) {
      sum += one.loss;
      if (is_loss(one.loss)) continue;
      throw Error(fmt::format("windows.csv has the loss {} at length {}; allowed: numbers from 0 on",
                              one.loss, row.length));
    }
    const double mean = sum / static_cast<double>(row.windows.size());
    const bool agrees =
        mean == row.loss || (std::isnan(mean) && std::isnan(row.loss)) ||
        (std::isfinite(mean) && std::abs(mean - row.loss) <= kLossTolerance * std::max(1.0, mean));
    if (!agrees || !std::cmp_equal(row.windows.size(), row.samples)) {
      throw Error(fmt::format("{} samples with the mean loss {} at length {}, and windows.csv has {} with {}",
                              row.samples, row.loss, row.length, row.windows.size(), mean));
    }
  }
  for (const PositionLoss& one : row.positions) {
    if (std::isnan(one.loss) || one.loss >= 0) continue;
    throw Error(
        fmt::format("positions.csv has the loss {} at position {} of length {}; allowed: numbers from 0 on",
                    one.loss, one.first, row.length));
  }
  if (task == nullptr) return;
  check_length(*task, row.length);
  const double right = row.accuracy * static_cast<double>(row.samples);
  if (task->output_length(row.length) == 1 && !(std::abs(right - std::round(right)) < 1e-3)) {
    throw Error(fmt::format("{} samples of one symbol cannot have the accuracy {} at length {}", row.samples,
                            row.accuracy, row.length));
  }
}

// The task is null where the run has none or its samples are not drawn.
void check_rows(const RunConfig& config, const Task* task, const std::vector<EvaluationRow>& rows,
                const std::string& file) {
  check_lengths(rows, config.has_text(), file, kEvaluationRemedy);
  std::set<OptionValues> checked;  // There may be a million rows, of few settings.
  for (const EvaluationRow& row : rows) {
    try {
      if (checked.insert(row.encoding_settings).second) check_settings(config, row);
      check_row(config, task, row);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", file, error.what()));
    }
  }
}

// Throws Error for rows that no training writes.
void check_metrics(const std::vector<MetricsRow>& rows, std::int64_t steps, const std::string& file) {
  const MetricsRow* before = nullptr;
  for (const MetricsRow& row : rows) {
    for (const double value : {row.loss, row.gradient_norm, row.seconds, row.validation_loss.value_or(0)}) {
      if (is_from_zero(value)) continue;
      throw Error(fmt::format("{}: the number {} at step {}; allowed: finite numbers from 0 on", file, value,
                              row.step));
    }
    if (row.step < 1 || row.step > steps) {
      throw Error(fmt::format("{}: a row of step {}; allowed: steps from 1 to {}", file, row.step, steps));
    }
    if (before != nullptr && row.seconds < before->seconds) {
      throw Error(fmt::format("{}: {} seconds at step {}, and {} at step {} before; allowed: times that grow",
                              file, row.seconds, row.step, before->seconds, before->step));
    }
    before = &row;
  }
}

}  // namespace

BundledRun parse_bundled_run(const std::string& id, const RunTexts& texts, const std::string& place,
                             double& scored_symbols) {
  const auto parsed = [&](const char* name, const auto& parse) {
    using Result = decltype(parse(std::string_view(), id, std::string()));
    const auto found = texts.find(name);
    return found == texts.end() ? Result() : parse(found->second, id, fmt::format("{}/{}", place, name));
  };
  if (!texts.contains(kConfig)) throw Error(fmt::format("{}: has no {}", place, kConfig));
  StoredConfig stored = parsed(kConfig, parse_stored_config);
  if (stored.id != id) throw Error(fmt::format("{}/{}: belongs to run {}", place, kConfig, stored.id));
  BundledRun run{.id = id,
                 .config = std::move(stored.config),
                 .status = parsed(kStatus, parse_status),
                 .evaluation = parsed("evaluation.csv", parse_evaluation),
                 .at_steps = parsed("evaluation_at_steps.csv", parse_at_steps),
                 .metrics = parsed("metrics.csv", parse_metrics)};
  if (run.config.has_text()) {
    attach_parts(run.evaluation, parsed("windows.csv", parse_windows));
    attach_parts(run.evaluation, parsed("positions.csv", parse_positions));
  } else if (texts.contains("windows.csv") || texts.contains("positions.csv")) {
    throw Error(fmt::format("{}: has windows or positions of a text, and the run is on a task", place));
  }
  if (!texts.contains(kStatus) && texts.size() > 1) {
    throw Error(fmt::format("{}: has results and no {}", place, kStatus));
  }
  std::unique_ptr<Task> task;
  if (!run.config.has_text() && run.config.is_drawn()) task = create_task(run.config.task);
  check_rows(run.config, task.get(), run.evaluation, place + "/evaluation.csv");
  for (const EvaluationRow& row : run.evaluation) {
    if (!run.config.has_text() || run.config.is_foreign() || !row.windows.empty()) continue;
    throw Error(fmt::format("{}/windows.csv: lacks the windows of length {}", place, row.length));
  }
  // A model outside che is not trained here.
  const std::int64_t steps = run.config.is_foreign() ? 0 : run.config.training.steps;
  for (const auto& [at, rows] : run.at_steps) {
    const std::string file = place + "/evaluation_at_steps.csv";
    if (at < 1 || at > steps) {
      throw Error(fmt::format("{}: a row of step {}; the run has {}", file, at, counted(steps, "step")));
    }
    check_rows(run.config, task.get(), rows, file);
  }
  run.rows_without_predictions =
      check_kept_predictions(run.config, run.evaluation, texts, place, scored_symbols);
  check_metrics(run.metrics, steps, place + "/metrics.csv");
  const bool is_finished = run.status.state == RunState::kFinished;
  if (is_finished && !run.metrics.empty() && run.metrics.back().step != steps) {
    throw Error(fmt::format("{}/metrics.csv: ends at step {} of a run that finished {}", place,
                            run.metrics.back().step, counted(steps, "step")));
  }
  const std::int64_t step = run.status.step;
  for (const double seconds : {run.status.training_seconds, run.status.evaluation_seconds}) {
    if (is_from_zero(seconds)) continue;
    throw Error(fmt::format("{}/{}: {} seconds; allowed: finite numbers from 0 on", place, kStatus, seconds));
  }
  const bool is_at_end = is_finished || !run.evaluation.empty();  // Only a trained model is measured.
  if (step > steps || (is_at_end && step != steps)) {
    throw Error(fmt::format("{}/{}: {} at step {} of {}{}", place, kStatus, state_name(run.status.state),
                            step, steps, run.evaluation.empty() ? "" : ", and evaluation.csv has rows"));
  }
  return run;
}

bool is_bundled(std::string_view name) {
  return std::ranges::count(kRunFiles, name) > 0 || is_kept_predictions(name);
}

void add_run_text(RunTexts& texts, const std::string& name, std::string text, const std::string& place) {
  std::size_t bytes = text.size();
  for (const auto& [other, of_other] : texts) bytes += of_other.size();
  if (bytes > kMaxRowBytes) {
    throw Error(fmt::format("{}: its files have more than {} MiB, which is the most for a run of a bundle",
                            place, kMaxRowBytes >> 20));
  }
  texts.emplace(name, std::move(text));
}

RunTexts read_run_texts(const fs::path& run) {
  RunTexts texts;
  std::error_code error;
  for (const fs::path& entry : entries_of(run, error)) {
    const std::string name = entry.filename().string();
    if (is_bundled(name))
      add_run_text(texts, name, read_file(entry, ArchiveLimits().file_bytes), run.string());
  }
  if (error) {
    throw Error(fmt::format("cannot read '{}': {}", run.string(), error.message()), ErrorKind::kRuntime);
  }
  return texts;
}

}  // namespace che
