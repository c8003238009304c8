#include "experiments/exchange/prediction_runs.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "core/file_lock.h"
#include "core/process.h"
#include "core/text.h"
#include "core/version.h"
#include "experiments/plan/run_config.h"

namespace che {
namespace {

// Rows of other accuracies than those that took their place.
struct ReplacedRows {
  std::size_t count = 0;
  double accuracy_before = 0;  // Sums.
  double accuracy_now = 0;
};

// Adds the rows of `scored` to `stored`, and warns of a second result of a model: it may be meant as a
// repetition.
void store_rows(std::vector<EvaluationRow>& stored, const ScoredPredictions& scored,
                const WarningSink& warn) {
  ReplacedRows replaced;
  for (const EvaluationRow& row : scored.rows) {
    const std::optional<EvaluationRow> before = store_row(stored, row);
    if (!before || before->accuracy == row.accuracy) continue;
    ++replaced.count;
    replaced.accuracy_before += before->accuracy;
    replaced.accuracy_now += row.accuracy;
  }
  if (replaced.count == 0) return;
  const double percent = 100 / static_cast<double>(replaced.count);
  warn(fmt::format(
      "{} of {}, model_seed {}: replaced the stored accuracy at {} (mean {:.1f} %, now {:.1f} %); a "
      "repetition needs a model_seed of its own",
      scored.header.task, scored.model, scored.seed, counted(replaced.count, "test length"),
      percent * replaced.accuracy_before, percent * replaced.accuracy_now));
}

}  // namespace

RunConfig prediction_config(const ScoredPredictions& scored) {
  const SampleHeader& header = scored.header;
  RunConfig config;
  if (header.definition.empty()) {
    config.task.reset(header.task);
    config.task.options = Registry<TaskEntry>::instance().get(config.task.name).options.with(header.options);
  } else {
    config.task.name = header.task;
    config.task.definition = header.definition;
  }
  config.foreign_model = scored.model;
  config.seed = scored.seed;
  EvaluationConfig& evaluation = config.evaluation;
  evaluation.listed_lengths = header.lengths;
  evaluation.samples = header.samples;
  evaluation.seed = header.seed;
  evaluation = with_exact_lengths(evaluation);
  // Reading what is written checks every limit.
  return parse_run_config(to_yaml(config), fmt::format("predictions for {}", header.task));
}

RunFolder store_predictions(const std::filesystem::path& experiment, const ScoredPredictions& scored,
                            const WarningSink& warn) {
  const RunConfig config = prediction_config(scored);
  RunFolder folder = RunFolder::at(experiment, config, warn);
  folder.store_config();
  const FileLock lock(folder.path());
  StoredRun stored = folder.set_damage_aside(warn);
  store_rows(stored.evaluation, scored, warn);
  folder.write_evaluation(stored.evaluation);
  RunStatus status;
  status.state = RunState::kFinished;
  status.git_commit = git_commit();
  status.version = program_version();
  status.device = "predictions";
  status.host = host_name();
  status.updated = current_utc_time();
  status.started = stored.status.started.empty() ? status.updated : stored.status.started;
  folder.write_status(status);
  return folder;
}

}  // namespace che
