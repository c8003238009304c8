#include "experiments/store/run_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "experiments/plan/identity.h"
#include "experiments/store/prediction_file.h"
#include "experiments/store/run_files.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFile = "config.yaml";
constexpr const char* kMetricsFile = "metrics.csv";
constexpr const char* kEvaluationFile = "evaluation.csv";
constexpr const char* kAtStepsFile = "evaluation_at_steps.csv";
constexpr const char* kStatusFile = "status.json";

// The content of a stored file; nothing where there is none. Throws Error (usage), as for damage, when it is
// not a regular file.
std::optional<std::string> stored_content(const fs::path& file, std::string_view remedy) {
  if (!is_present(file)) return std::nullopt;
  try {
    return read_file(file);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    throw Error(fmt::format("{}: {}; the file is damaged: {}", file.string(), error.what(), remedy));
  }
}

std::string belongs_to_another(const fs::path& file, const std::string& other) {
  return fmt::format("{}: belongs to run {}; the file is damaged: {}", file.string(), other, kConfigRemedy);
}

// Whether the results in a folder are those of the run `id`, by their checksums. Nothing when there are none.
std::optional<bool> results_belong_to(const fs::path& folder, const std::string& id) {
  const auto try_file = [&](const char* name, const auto& parse) -> std::optional<bool> {
    const fs::path file = folder / name;
    try {
      const std::optional<std::string> text = stored_content(file, "");
      if (!text) return std::nullopt;
      parse(*text, id, file.string());
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  const std::array found{try_file(kStatusFile, parse_status), try_file(kEvaluationFile, parse_evaluation),
                         try_file(kMetricsFile, parse_metrics)};
  std::optional<bool> belongs;
  for (const std::optional<bool>& one : found) {
    if (one) belongs = belongs.value_or(false) || *one;
  }
  return belongs;
}

}  // namespace

std::string problem_name(RunProblem problem) {
  switch (problem) {
    case RunProblem::kDamagedConfig:
      return kDamaged;
    case RunProblem::kWrongName:
      return "misnamed";
    case RunProblem::kNoAccess:
      return "unreadable";
  }
  throw Error("problem of a run out of range", ErrorKind::kRuntime);
}

std::string StoredRun::damage_text() const {
  std::string text;
  for (const Damage& one : damage) text += (text.empty() ? "" : "; ") + one.what;
  return text;
}

void create_writable_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
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
    const std::optional<std::string> text = stored_content(file, kConfigRemedy);
    if (!text) return folder;
    const StoredConfig stored = parse_stored_config(*text, folder.id(), file.string());
    if (stored.id != folder.id()) throw Error(belongs_to_another(file, stored.id));
    folder.config_is_stored_ = *text == stored_config_text(config);
  } catch (const Error& damage) {
    if (damage.kind() == ErrorKind::kRuntime) throw;
    folder.config_is_damaged_ = true;
    warn(damage.what());
  }
  return folder;
}

void RunFolder::store_config() const {
  create_writable_folder(path_);
  if (config_is_stored_) return;
  const fs::path file = path_ / kConfigFile;
  try {
    if (config_is_damaged_) set_aside_locked(file, kDamaged, path_.parent_path().parent_path());
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
    const std::optional<std::string> text = stored_content(file, kConfigRemedy);
    if (!text) {
      return refuse(RunProblem::kDamagedConfig,
                    fmt::format("'{}' is not a run: it has no {}; if it was one, rerun `che run CONFIG` to "
                                "rewrite the file",
                                folder.string(), kConfigFile));
    }
    StoredConfig stored = parse_stored_config(*text, name, file.string());
    if (stored.id == name)
      return {RunFolder(folder, std::move(stored.config)), RunProblem::kDamagedConfig, ""};
    if (results_belong_to(folder, name).value_or(false)) {
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
  const fs::path file = path_ / kMetricsFile;
  const std::optional<std::string> text = stored_content(file, kMetricsRemedy);
  return text ? parse_metrics(*text, id(), file.string()) : std::vector<MetricsRow>();
}

std::vector<EvaluationRow> RunFolder::evaluation() const {
  const fs::path file = path_ / kEvaluationFile;
  const std::optional<std::string> text = stored_content(file, kEvaluationRemedy);
  return text ? parse_evaluation(*text, id(), file.string()) : std::vector<EvaluationRow>();
}

StepRows RunFolder::at_steps() const {
  const fs::path file = path_ / kAtStepsFile;
  const std::optional<std::string> text = stored_content(file, kAtStepsRemedy);
  return text ? parse_at_steps(*text, id(), file.string()) : StepRows();
}

RunStatus RunFolder::status() const {
  const fs::path file = path_ / kStatusFile;
  const std::optional<std::string> text = stored_content(file, kStatusRemedy);
  return text ? parse_status(*text, id(), file.string()) : RunStatus();
}

StoredRun RunFolder::read() const {
  StoredRun run;
  const auto take = [&](const char* file, auto& member, const auto& reader) {
    try {
      member = (this->*reader)();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kRuntime) throw;  // The content may be good.
      run.damage.push_back({path_ / file, error.what()});
    }
  };
  take(kStatusFile, run.status, &RunFolder::status);
  take(kMetricsFile, run.metrics, &RunFolder::metrics);
  take(kEvaluationFile, run.evaluation, &RunFolder::evaluation);
  take(kAtStepsFile, run.at_steps, &RunFolder::at_steps);
  run.has_predictions = config_.evaluation.predictions && has_predictions(path_, config_);
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
  }
  stored.damage.clear();
  return stored;
}

std::optional<fs::path> RunFolder::set_evaluation_aside() const {
  remove_predictions(path_);
  const fs::path file = path_ / kEvaluationFile;
  if (!is_present(file)) return std::nullopt;
  return set_aside_locked(file, "replaced", path_);
}

void RunFolder::write_rows(const char* file, const std::string& text) const {
  if (!text.empty()) {
    write_file_atomically(path_ / file, text);
    return;
  }
  std::error_code error;
  fs::remove(path_ / file, error);
  if (error) {
    throw Error(fmt::format("cannot remove '{}': {}", (path_ / file).string(), error.message()),
                ErrorKind::kRuntime);
  }
}

void RunFolder::write_metrics(const std::vector<MetricsRow>& rows) const {
  write_rows(kMetricsFile, metrics_text(rows, id()));
}

void RunFolder::write_evaluation(const std::vector<EvaluationRow>& rows) const {
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
