#include "experiments/exchange/stored_predictions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/file_lock.h"
#include "core/files.h"
#include "core/hashes.h"
#include "core/process.h"
#include "core/text.h"
#include "core/version.h"
#include "experiments/exchange/archive.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_config.h"
#include "models/architectures/foreign.h"
#include "tasks/declared/task_definition.h"

namespace che {
namespace {

constexpr std::string_view kKeptStart = "predictions-";
constexpr std::string_view kKeptEnd = ".jsonl.zst";
constexpr std::size_t kKeptDigits = 12;
// The symbols of the samples that a file of kept predictions may be for, at most, those of a run's files, and
// those of a bundle's.
constexpr double kMaxKeptSymbols = 5e8;
constexpr double kMaxSymbolsOfRun = kMaxScoredSymbols;
constexpr double kMaxSymbolsOfBundle = 2e10;

// The name depends on which samples were predicted, so that new predictions take the place of earlier ones.
std::string kept_name(const SampleHeader& header) {
  const std::string samples =
      fmt::format("{} {} {}", header.samples, header.seed, fmt::join(header.lengths, ","));
  return fmt::format("{}{}{}", kKeptStart, sha256(samples).substr(0, kKeptDigits), kKeptEnd);
}

void remove_kept(const std::filesystem::path& folder) {
  std::error_code error;
  for (const std::filesystem::path& file : entries_of(folder, error)) {
    if (is_kept_predictions(file.filename().string())) remove_file(file);
  }
}

void keep(const std::filesystem::path& folder, const ScoredPredictions& scored, const WarningSink& warn) {
  const std::filesystem::path file = folder / kept_name(scored.header);
  const double symbols = symbols_of(scored.header);
  const std::size_t bytes = ArchiveLimits().file_bytes;
  if (scored.packed.size() <= bytes && symbols <= kMaxKeptSymbols) {
    write_file_atomically(file, scored.packed);
    return;
  }
  remove_file(file);
  warn(fmt::format(
      "{}: the predictions are not kept, and `che verify` cannot score them again: they have {} bytes, "
      "compressed, for samples of {} symbols; allowed: {} and {}",
      scored.file.string(), scored.packed.size(), symbols, bytes, kMaxKeptSymbols));
}

// Whether a row's standard error, if it has one, is that of another row but for rounding.
bool is_error_of(const EvaluationRow& row, const EvaluationRow& other) {
  constexpr double kRounding = 1e-9;
  return !row.accuracy_se ||
         (other.accuracy_se && std::abs(*row.accuracy_se - *other.accuracy_se) <= kRounding);
}

bool is_confirmed(const EvaluationRow& stored, const EvaluationRow& scored) {
  return scored.accuracy == stored.accuracy && is_error_of(stored, scored);
}

// Rows of other accuracies than those that took their place.
struct ReplacedRows {
  std::size_t count = 0;
  double accuracy_before = 0;  // Sums.
  double accuracy_now = 0;
};

// Adds the rows of `scored` to `stored`. Where one differs from that which it replaces, the others are of
// earlier predictions, too, and go. Returns whether they did, and warns: a repetition may be meant.
bool store_rows(std::vector<EvaluationRow>& stored, const ScoredPredictions& scored,
                const WarningSink& warn) {
  ReplacedRows replaced;
  std::vector<EvaluationRow> rows;
  for (const EvaluationRow& row : scored.rows) {
    store_row(rows, row);
    const std::optional<EvaluationRow> before = store_row(stored, row);
    if (!before || is_confirmed(*before, row)) continue;
    ++replaced.count;
    replaced.accuracy_before += before->accuracy;
    replaced.accuracy_now += row.accuracy;
  }
  if (replaced.count == 0) return false;
  const std::size_t removed = stored.size() - rows.size();
  stored = std::move(rows);
  const double percent = 100 / static_cast<double>(replaced.count);
  warn(fmt::format(
      "{} of {}, model_seed {}: replaced the stored accuracy at {} (mean {:.1f} %, now {:.1f} %){}; a "
      "repetition needs a model_seed of its own",
      task_config(scored.header).own_label().text(), scored.model, scored.seed,
      counted(replaced.count, "test length"), percent * replaced.accuracy_before,
      percent * replaced.accuracy_now,
      removed > 0 ? fmt::format(" and removed {} of these earlier predictions", counted(removed, "other row"))
                  : ""));
  return true;
}

// Says so where predictions of other samples than before change the model's score.
void warn_of_other_samples(const RunFolder& before, const RunConfig& config, const WarningSink& warn) {
  const auto text = [](const EvaluationConfig& evaluation) {
    return fmt::format("{} samples at each of the lengths {}, drawn by the seed {}", evaluation.samples,
                       lengths_text(evaluation), evaluation.seed);
  };
  const std::string had = text(before.config().evaluation);
  const std::string has = text(config.evaluation);
  if (had == has) return;
  const EvaluationConfig& old = before.config().evaluation;
  const bool counts = old.samples == config.evaluation.samples && old.seed == config.evaluation.seed;
  warn(fmt::format("{}: the score is now of {}, and was of {}; {}", before.path().string(), has, had,
                   counts ? "tables count rows of other lengths with --score-lengths"
                          : "no table counts those any more; to have both, score each into its own folder"));
}

// Returns the statements of all rows' training (RunStatus::stated_training), given those of before.
std::vector<std::string> stated_training(std::vector<std::string> statements, const ScoredPredictions& scored,
                                         bool has_other_rows, const WarningSink& warn) {
  const std::string not_stated = "not stated";
  const std::string now = scored.stated_training.empty() ? not_stated : scored.stated_training;
  if (statements.empty()) statements = {not_stated};
  if (!has_other_rows) {
    statements.clear();
  } else if (std::erase(statements, now) == 0) {
    warn(fmt::format("{} of {}, model_seed {}: rows that stay are of another training: {}; these are of: {}",
                     task_config(scored.header).own_label().text(), scored.model, scored.seed,
                     fmt::join(statements, " | "), now));
  }
  statements.insert(statements.begin(), now);
  constexpr std::size_t kMaxStatements = 100;  // A status has 1,000 values at most; the oldest go.
  if (statements.size() > kMaxStatements) statements.resize(kMaxStatements);
  if (statements == std::vector{not_stated}) statements.clear();
  return statements;
}

std::string accuracy_text(const EvaluationRow& row) {
  return row.accuracy_se ? fmt::format("{} (standard error {})", row.accuracy, *row.accuracy_se)
                         : fmt::format("{}", row.accuracy);
}

using ScoredRows = std::vector<EvaluationRow>;  // One file's.

const EvaluationRow* find_scored(const ScoredRows& rows, const EvaluationRow& stored) {
  const auto scored = std::ranges::find_if(rows, [&](const EvaluationRow& row) {
    return row.length == stored.length && row.samples == stored.samples && row.seed == stored.seed;
  });
  return scored == rows.end() ? nullptr : &*scored;
}

std::vector<ScoredRows> score_again(const RunConfig& config, const std::map<std::string, std::string>& files,
                                    const std::string& place, double& symbols) {
  std::vector<ScoredRows> again;
  const double before = symbols;
  const auto check = [&](const ScoredPredictions& header, const std::string& name) {
    symbols += symbols_of(header.header);
    const double of_run = symbols - before;
    const bool is_run = of_run > kMaxSymbolsOfRun;
    if (is_run || symbols > kMaxSymbolsOfBundle) {
      throw Error(fmt::format(
          "the {}'s predictions are for samples of {} symbols; allowed: {}; score some of them into another "
          "folder",
          is_run ? "run" : "bundle", is_run ? of_run : symbols,
          is_run ? kMaxSymbolsOfRun : kMaxSymbolsOfBundle));
    }
    if (run_id(prediction_config(header)) == run_id(config) && kept_name(header.header) == name) return;
    throw Error("has predictions of another run or of other samples");
  };
  for (const auto& [kept, content] : files) {
    const std::string& name = kept;  // Which a lambda can refer to.
    if (!is_kept_predictions(name)) continue;
    again.push_back(
        score_predictions(content, fmt::format("{}/{}", place, name), [&](const ScoredPredictions& header) {
          check(header, name);
        }).rows);
  }
  return again;
}

// Waits some seconds for those that score into the folder, too, which hold its lock for a moment.
FileLock lock_soon(const std::filesystem::path& experiment) {
  LockRefusal refusal;
  for (int left = 50; left > 0; --left) {
    if (auto lock = FileLock::try_hold(experiment, refusal)) return std::move(*lock);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  throw Error(refusal.text);
}

// Marks a run as failed until its new predictions are stored: rows of two sets, or those of one beside the
// config of another, are no result.
void mark_as_replaced(const RunFolder& folder, RunStatus status) {
  status.state = RunState::kFailed;
  status.error = "`che score` did not end; score the predictions again";
  folder.write_status(status);
}

}  // namespace

TaskConfig task_config(const SampleHeader& header) {
  TaskConfig task;
  if (header.definition.empty()) {
    task.reset(header.task);
    task.options = Registry<TaskEntry>::instance().get(task.name).options.with(header.options);
  } else {
    task.name = header.task;
    task.definition = parse_task_definition(header.definition, "definition").canonical();
  }
  return task;
}

RunConfig prediction_config(const ScoredPredictions& scored) {
  const SampleHeader& header = scored.header;
  RunConfig config;
  config.task = task_config(header);
  config.model = foreign_model(scored.model);
  config.seed = scored.seed;
  config.data_seed = scored.data_seed;
  EvaluationConfig& evaluation = config.evaluation;
  evaluation.listed_lengths = header.lengths;
  evaluation.samples = header.samples;
  evaluation.seed = header.seed;
  evaluation = with_exact_lengths(evaluation);
  // Reading what is written checks every limit.
  return parse_run_config(to_yaml(config), fmt::format("predictions for {}", header.task));
}

std::vector<ScoredPredictions> score_files(const std::vector<std::string>& files,
                                           const std::filesystem::path& experiment) {
  std::vector<ScoredPredictions> all;
  all.reserve(files.size());
  std::map<std::string, std::string> file_of;  // By run id.
  for (const std::string& file : files) {
    all.push_back(score_predictions(file, [&](const ScoredPredictions& scored) {
      if (experiment.empty()) return;
      const auto [first, is_new] = file_of.emplace(run_id(prediction_config(scored)), file);
      if (is_new) return;
      throw Error(fmt::format(
          "has the model, model_seed and task of {}; repetitions need another model_seed or data_seed",
          first->second));
    }));
  }
  if (experiment.empty()) return all;
  create_writable_folder(experiment);
  const FileLock lock = lock_soon(experiment);
  std::vector<RunFolder> replaced;
  for (const ScoredPredictions& scored : all) {
    const RunFolder folder = RunFolder::at(experiment, prediction_config(scored), [](const std::string&) {});
    if (RunFolder::inspect(folder.path()).run && folder.read().damage.empty()) replaced.push_back(folder);
  }
  // This throws before anything is marked, where a run is in use.
  for (const RunFolder& folder : replaced) {
    const FileLock nobody_has_it(folder.path());
  }
  for (const RunFolder& folder : replaced) {
    const FileLock of_run(folder.path());
    mark_as_replaced(folder, folder.status());
  }
  for (const ScoredPredictions& scored : all) store_predictions(experiment, scored);
  return all;
}

RunFolder store_predictions(const std::filesystem::path& experiment, const ScoredPredictions& scored,
                            const WarningSink& warn) {
  const RunConfig config = prediction_config(scored);
  RunFolder folder = RunFolder::at(experiment, config, warn);
  const InspectedRun before = RunFolder::inspect(folder.path());
  if (before.run) {
    warn_of_other_samples(*before.run, config, warn);
  } else {
    folder.store_config();  // The lock needs a folder.
  }
  const FileLock lock(folder.path());
  StoredRun stored = folder.set_damage_aside(warn);
  if (before.run) mark_as_replaced(folder, stored.status);
  folder.store_config();
  std::vector<std::string> notes;
  const bool has_rows = !stored.evaluation.empty();
  const auto take_note = [&](const std::string& text) { notes.push_back(text); };
  if (store_rows(stored.evaluation, scored, take_note) || !has_rows) remove_kept(folder.path());
  folder.write_evaluation(stored.evaluation);
  for (const std::string& note : notes) warn(note);
  keep(folder.path(), scored, warn);
  RunStatus status;
  status.state = RunState::kFinished;
  status.git_commit = git_commit();
  status.version = program_version();
  status.device = "predictions";
  status.host = host_name();
  status.stated_training = stated_training(stored.status.stated_training, scored,
                                           stored.evaluation.size() > scored.rows.size(), warn);
  status.updated = current_utc_time();
  status.started = stored.status.started.empty() ? status.updated : stored.status.started;
  folder.write_status(status);
  return folder;
}

bool is_kept_predictions(std::string_view name) {
  if (name.size() != kKeptStart.size() + kKeptDigits + kKeptEnd.size()) return false;
  const std::string_view digits = name.substr(kKeptStart.size(), kKeptDigits);
  return name.starts_with(kKeptStart) && name.ends_with(kKeptEnd) &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::size_t check_kept_predictions(const RunConfig& config, const std::vector<EvaluationRow>& rows,
                                   const std::map<std::string, std::string>& files, const std::string& place,
                                   double& scored_symbols) {
  const std::vector<ScoredRows> again = score_again(config, files, place, scored_symbols);
  std::size_t missing = 0;  // Large predictions are not kept; see keep().
  for (const EvaluationRow& row : rows) {
    bool is_missing = true;
    for (const ScoredRows& of_file : again) {
      const EvaluationRow* const scored = find_scored(of_file, row);
      if (scored == nullptr) continue;
      is_missing = false;
      if (is_confirmed(row, *scored)) continue;
      throw Error(fmt::format(
          "{}/evaluation.csv: has the accuracy {} at length {}, and the kept predictions have {}; "
          "score the file again with `che score`",
          place, accuracy_text(row), row.length, accuracy_text(*scored)));
    }
    missing += is_missing ? 1U : 0U;
  }
  return config.is_foreign() ? missing : 0;
}

}  // namespace che
