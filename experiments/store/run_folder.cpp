#include "experiments/store/run_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/files.h"
#include "experiments/plan/identity.h"
#include "experiments/store/prediction_file.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFile = "config.yaml";
constexpr const char* kMetricsFile = "metrics.csv";
constexpr const char* kEvaluationFile = "evaluation.csv";
constexpr const char* kWindowsFile = "windows.csv";
constexpr const char* kPositionsFile = "positions.csv";
constexpr const char* kAtStepsFile = "evaluation_at_steps.csv";
constexpr const char* kStatusFile = "status.json";

// Much more than a config or a status needs.
constexpr std::size_t kMaxSettings = std::size_t{1} << 20;

// Returns the content of a stored file, or nothing where there is none. A file that is too large or not a
// regular one is an Error (usage), as a damaged one is.
std::optional<std::string> stored_content(const fs::path& file, std::string_view remedy,
                                          std::size_t max_bytes = kMaxRowBytes) {
  if (!is_present(file)) return std::nullopt;
  try {
    return read_file(file, max_bytes);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    throw Error(fmt::format("{}: {}; the file is damaged: {}", file.string(), error.what(), remedy));
  }
}

// Parses a stored file of the run `id`; returns a default value where there is none.
template <class Result>
Result parsed(const fs::path& file, const std::string& id, std::string_view remedy,
              Result (*parse)(std::string_view, std::string_view, const std::string&),
              std::size_t max_bytes = kMaxRowBytes) {
  const std::optional<std::string> text = stored_content(file, remedy, max_bytes);
  return text ? parse(*text, id, file.string()) : Result();
}

std::string belongs_to_another(const fs::path& file, const std::string& other) {
  return fmt::format("{}: belongs to run {}; the file is damaged: {}", file.string(), other, kConfigRemedy);
}

// Whether some results in a folder belong to the run `id`, by their checksums.
bool results_belong_to(const fs::path& folder, const std::string& id) {
  const auto belongs = [&](const char* name, const auto& parse) {
    try {
      if (!is_present(folder / name)) return false;
      parsed(folder / name, id, "", parse);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  return belongs(kStatusFile, parse_status) || belongs(kEvaluationFile, parse_evaluation) ||
         belongs(kMetricsFile, parse_metrics);
}

// A finished training keeps the settings that its metrics were written with.
void keep_log_of_training(LogConfig& log, const LogConfig& stored, const RunFolder& folder) {
  const auto intervals = [](auto& of) { return std::tie(of.every_steps, of.validation_steps); };
  if (intervals(log) == intervals(stored)) return;
  try {
    if (folder.status().step == folder.config().training.steps) intervals(log) = intervals(stored);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;  // Whoever reads the status reports damage.
  }
}

}  // namespace

std::string problem_name(RunProblem problem) {
  constexpr std::array kNames{kDamaged, "misnamed", "unreadable"};  // In the order of RunProblem.
  return kNames.at(static_cast<std::size_t>(problem));
}

std::string StoredRun::damage_text() const {
  std::string text;
  for (const Damage& one : damage) text += (text.empty() ? "" : "; ") + one.what;
  return text;
}

bool StoredRun::is_mixed(const RunConfig& config) const {
  if (config.is_foreign()) return false;
  const std::int64_t steps = config.training.steps;
  return !evaluation.empty() && status.step < steps && (metrics.empty() || metrics.back().step < steps);
}

void create_writable_folder(const fs::path& folder) {
  std::error_code error = create_folder(folder);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
  if (error) {
    throw Error(
        fmt::format("cannot write results to '{}': {}; name another folder with --output or make this "
                    "one writable",
                    folder.string(), error.message()),
        error_kind_of(error.value()));
  }
}

RunFolder::RunFolder(fs::path path, RunConfig config) : path_(std::move(path)), config_(std::move(config)) {}

RunFolder RunFolder::at(const fs::path& experiment, const RunConfig& config, const WarningSink& warn) {
  RunFolder folder(experiment / "runs" / run_id(config), config);
  const fs::path file = folder.path_ / kConfigFile;
  try {
    const std::optional<std::string> text = stored_content(file, kConfigRemedy, kMaxSettings);
    if (!text) return folder;
    const StoredConfig stored = parse_stored_config(*text, folder.id(), file.string());
    if (stored.id != folder.id()) throw Error(belongs_to_another(file, stored.id));
    keep_log_of_training(folder.config_.log, stored.config.log, folder);
    folder.config_is_stored_ = *text == stored_config_text(folder.config_);
    folder.stored_execution_ = stored.config.execution;
    folder.stored_tensorboard_ = stored.config.log.tensorboard;
    if (!folder.config_is_stored_) {
      RunFolder computed_alike = folder;
      computed_alike.keep_execution();
      folder.execution_alone_differs_ = *text == stored_config_text(computed_alike.config_);
    }
  } catch (const Error& damage) {
    if (damage.kind() == ErrorKind::kRuntime) throw;
    folder.config_is_damaged_ = true;
    warn(damage.what());
  }
  return folder;
}

void RunFolder::keep_execution() {
  if (!stored_execution_) return;
  config_.execution = *stored_execution_;
  config_.log.tensorboard = stored_tensorboard_;
  config_is_stored_ = config_is_stored_ || execution_alone_differs_;
}

void RunFolder::store_config() const {
  create_writable_folder(path_);
  if (config_is_stored_) return;
  const fs::path file = path_ / kConfigFile;
  try {
    if (config_is_damaged_) set_aside_locked(file, kDamaged, experiment());
    write_file_atomically(file, stored_config_text(config_));
  } catch (const Error& error) {
    throw Error(fmt::format("{}; free space, or name another folder with --output", error.what()),
                ErrorKind::kRuntime);
  }
}

RunFolder RunFolder::create(const fs::path& experiment, const RunConfig& config) {
  RunFolder folder = at(experiment, config);
  folder.store_config();
  return folder;
}

InspectedRun RunFolder::inspect(const fs::path& given) {
  // Without a trailing slash, so that the last component is the id.
  const fs::path folder = given.has_filename() ? given : given.parent_path();
  const fs::path file = folder / kConfigFile;
  const std::string name = folder.filename().string();
  const auto refuse = [](RunProblem problem, const std::string& text) {
    return InspectedRun{std::nullopt, problem, text};
  };
  try {
    const std::optional<std::string> text = stored_content(file, kConfigRemedy, kMaxSettings);
    if (!text) {
      return refuse(RunProblem::kDamagedConfig,
                    fmt::format("'{}' is not a run: it has no {}; if it was one, rerun `che run CONFIG` to "
                                "rewrite the file",
                                folder.string(), kConfigFile));
    }
    StoredConfig stored = parse_stored_config(*text, name, file.string());
    if (stored.id == name)
      return {RunFolder(folder, std::move(stored.config)), RunProblem::kDamagedConfig, ""};
    if (results_belong_to(folder, name)) {
      return refuse(RunProblem::kDamagedConfig, belongs_to_another(file, stored.id));
    }
    return refuse(RunProblem::kWrongName,
                  fmt::format("'{}' holds run {} under another name; rename the folder to that or remove it",
                              folder.string(), stored.id));
  } catch (const Error& error) {
    return refuse(error.kind() == ErrorKind::kRuntime ? RunProblem::kNoAccess : RunProblem::kDamagedConfig,
                  error.what());
  }
}

RunFolder RunFolder::open(const fs::path& folder) {
  InspectedRun inspected = inspect(folder);
  if (inspected.run) return *std::move(inspected.run);
  throw Error(inspected.text,
              inspected.problem == RunProblem::kNoAccess ? ErrorKind::kRuntime : ErrorKind::kUsage);
}

std::vector<MetricsRow> RunFolder::metrics() const {
  return parsed(path_ / kMetricsFile, id(), kMetricsRemedy, parse_metrics);
}

std::vector<EvaluationRow> RunFolder::evaluation() const {
  std::vector<EvaluationRow> whole = rows();
  if (config_.has_text()) {
    attach_parts(whole, windows());
    attach_parts(whole, positions());
  }
  return whole;
}

std::vector<EvaluationRow> RunFolder::rows() const {
  const fs::path file = path_ / kEvaluationFile;
  std::vector<EvaluationRow> rows = parsed(file, id(), kEvaluationRemedy, parse_evaluation);
  check_lengths(rows, config_.has_text(), file.string(), kEvaluationRemedy);
  return rows;
}

std::vector<EvaluationRow> RunFolder::windows() const {
  return parsed(path_ / kWindowsFile, id(), kEvaluationRemedy, parse_windows);
}

std::vector<EvaluationRow> RunFolder::positions() const {
  return parsed(path_ / kPositionsFile, id(), kEvaluationRemedy, parse_positions);
}

StepRows RunFolder::at_steps() const {
  const fs::path file = path_ / kAtStepsFile;
  StepRows at_steps = parsed(file, id(), kAtStepsRemedy, parse_at_steps);
  for (const auto& [step, rows] : at_steps) {
    check_lengths(rows, config_.has_text(), file.string(), kAtStepsRemedy);
  }
  return at_steps;
}

RunStatus RunFolder::status() const {
  return parsed(path_ / kStatusFile, id(), kStatusRemedy, parse_status, kMaxSettings);
}

StoredRun RunFolder::read() const {
  StoredRun run;
  const auto take = [&](const char* file, auto& member, const auto& reader) {
    try {
      member = reader();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kRuntime) throw;  // The content may be good.
      run.damage.push_back({path_ / file, error.what()});
    }
  };
  take(kStatusFile, run.status, [this] { return status(); });
  take(kMetricsFile, run.metrics, [&] {
    std::vector<MetricsRow> rows = metrics();
    // Version 0.1.0 could leave the last row out where it was shorter than the others.
    const std::int64_t steps = config_.training.steps;
    if (run.status.state != RunState::kFinished || config_.is_foreign() || rows.empty() ||
        rows.back().step > steps - config_.log.every_steps)
      return rows;
    throw Error(fmt::format("{}: ends at step {} of a run that finished {}; {}",
                            (path_ / kMetricsFile).string(), rows.back().step, counted(steps, "step"),
                            kMetricsRemedy));
  });
  const std::size_t others = run.damage.size();
  std::vector<EvaluationRow> of_windows;
  std::vector<EvaluationRow> of_positions;
  if (config_.has_text()) {
    take(kWindowsFile, of_windows, [this] { return windows(); });
    take(kPositionsFile, of_positions, [this] { return positions(); });
  }
  // A damaged part costs the rows, which are measured again.
  if (run.damage.size() == others) take(kEvaluationFile, run.evaluation, [this] { return rows(); });
  attach_parts(run.evaluation, std::move(of_windows));
  attach_parts(run.evaluation, std::move(of_positions));
  take(kAtStepsFile, run.at_steps, [this] { return at_steps(); });
  if (config_.evaluation.predictions) {
    take(kPredictionsFile, run.has_predictions, [this] { return has_predictions(path_, config_); });
  }
  const fs::path status_file = path_ / kStatusFile;
  if (!is_present(status_file) && !(run.metrics.empty() && run.evaluation.empty())) {
    run.damage.push_back({status_file, fmt::format("{}: is missing next to results; {}", status_file.string(),
                                                   kStatusRemedy)});
  }
  return run;
}

StoredRun RunFolder::set_damage_aside(const WarningSink& warn) const {
  StoredRun stored = read();
  for (const Damage& damage : stored.damage) {
    warn(is_present(damage.file) ? che::set_damage_aside(damage, path_) : damage.what);
    const std::string name = damage.file.filename();
    if (name != kWindowsFile && name != kPositionsFile) continue;
    // The rows are measured again, but for those that `che evaluate` added.
    if (const auto aside = set_rows_aside(kEvaluationFile)) {
      warn(fmt::format("its rows are measured again, and the earlier ones are now {}", aside->string()));
    }
    set_rows_aside(kWindowsFile);
    set_rows_aside(kPositionsFile);
  }
  stored.damage.clear();
  return stored;
}

std::optional<fs::path> RunFolder::set_rows_aside(const char* file) const {
  if (!is_present(path_ / file)) return std::nullopt;
  return set_aside_locked(path_ / file, "replaced", path_);
}

std::optional<fs::path> RunFolder::set_evaluation_aside() const {
  remove_file(path_ / kPredictionsFile);  // The lost model's.
  std::optional<fs::path> aside = set_rows_aside(kEvaluationFile);
  if (aside) {
    set_rows_aside(kWindowsFile);
    set_rows_aside(kPositionsFile);
    set_at_steps_aside();
  }
  return aside;
}

std::optional<fs::path> RunFolder::set_metrics_aside() const { return set_rows_aside(kMetricsFile); }

void RunFolder::set_at_steps_aside() const { set_rows_aside(kAtStepsFile); }

void RunFolder::write_rows(const char* file, const std::string& text) const {
  if (text.size() > kMaxRowBytes) {
    throw Error(
        fmt::format("{}: its rows would have more than {} MiB, which is the most that is read; raise "
                    "log.every_steps or evaluate fewer lengths",
                    (path_ / file).string(), kMaxRowBytes >> 20));
  }
  if (!text.empty()) {
    write_file_atomically(path_ / file, text);
    return;
  }
  remove_file(path_ / file);
}

void RunFolder::write_metrics(const std::vector<MetricsRow>& rows) const {
  write_rows(kMetricsFile, metrics_text(rows, id()));
}

void RunFolder::write_evaluation(const std::vector<EvaluationRow>& rows) const {
  // Its parts first: a row of evaluation.csv says that all of its measurement is stored.
  if (config_.has_text()) {
    write_rows(kWindowsFile, windows_text(rows, id()));
    write_rows(kPositionsFile, positions_text(rows, id()));
  }
  write_rows(kEvaluationFile, evaluation_text(rows, id()));
}

void RunFolder::write_at_steps(const StepRows& rows) const {
  write_rows(kAtStepsFile, at_steps_text(rows, id()));
}

void RunFolder::write_status(const RunStatus& status) const {
  write_file_atomically(path_ / kStatusFile, to_json(status, id()));
}

void RunFolder::mark_failed(const std::string& reason) const {
  RunStatus current;
  try {
    current = status();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    // Damaged: there is nothing to keep.
  }
  if (current.state == RunState::kFinished || current.state == RunState::kFailed) return;
  current.state = RunState::kFailed;
  current.error = reason;
  current.updated = current_utc_time();
  write_status(current);
}

}  // namespace che
