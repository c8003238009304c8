#include "experiments/results_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include "core/atomic_file.h"
#include "core/checksum.h"
#include "core/error.h"
#include "core/set_aside.h"
#include "experiments/csv.h"
#include "experiments/tensorboard.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFile = "config.yaml";
constexpr const char* kMetricsFile = "metrics.csv";
constexpr const char* kEvaluationFile = "evaluation.csv";
constexpr const char* kStatusFile = "status.json";
constexpr const char* kTensorboardFile = "events.out.tfevents.che";

const std::vector<std::string> kMetricsColumns = {"step",          "loss",    "accuracy",
                                                  "gradient_norm", "seconds", std::string(kChecksumColumn)};
const std::vector<std::string> kEvaluationColumns = {
    "length", "samples", "seed", "eval_dropout", "accuracy", "loss", std::string(kChecksumColumn)};
// The last line of config.yaml guards the settings that the run's id does not cover.
constexpr std::string_view kChecksumLine = "# checksum: ";

std::string sealed_config(const RunConfig& config) {
  const std::string text = to_yaml(config);
  return fmt::format("{}{}{}\n", text, kChecksumLine, checksum("", text));
}

RunConfig read_stored_config(const fs::path& file) {
  const std::string text = read_file(file);
  const auto fail = [&](std::string_view problem) {
    throw Error(
        fmt::format("{}: {}; the file is damaged: `che run` with the experiment's config writes it anew",
                    file.string(), problem));
  };
  const std::size_t line = text.rfind(kChecksumLine);
  if (line == std::string::npos) fail("its last line, the checksum, is missing");
  const std::string settings = text.substr(0, line);
  if (text.substr(line) != fmt::format("{}{}\n", kChecksumLine, checksum("", settings))) {
    fail("its checksum does not fit its content");
  }
  return parse_run_config(settings, file.string());
}

// The settings that determine the parameters and that `one` has and `other` has not, for a message.
std::string settings_beyond(const RunConfig& one, const RunConfig& other) {
  const std::vector<Role> roles = {Role::kCell, Role::kReplica};
  const std::string others = "\n" + identity_text(other, roles);
  std::istringstream lines(identity_text(one, roles));
  std::vector<std::string> settings;
  for (std::string line; std::getline(lines, line);) {
    if (others.find("\n" + line + "\n") == std::string::npos) settings.push_back(line);
  }
  return settings.empty() ? "defaults" : fmt::format("{}", fmt::join(settings, ", "));
}

// But for its lock and temporary files, which a start that was killed leaves.
bool holds_anything(const fs::path& folder) {
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(), [](const auto& entry) {
    const std::string name = entry.path().filename().string();
    return name != "lock" && !name.starts_with('.');
  });
}

}  // namespace

void create_writable_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
  if (error) {
    throw Error(
        fmt::format("cannot write results to '{}': {}; name another folder with --output or make this "
                    "one writable",
                    folder.string(), error.message()),
        fault_of(error.value()));
  }
}

RunFolder::RunFolder(fs::path path, RunConfig config) : path_(std::move(path)), config_(std::move(config)) {}

RunFolder RunFolder::at(const fs::path& experiment, const RunConfig& config, const WarningSink& warn) {
  RunFolder folder(experiment / "runs" / run_id(config), config);
  const fs::path file = folder.path_ / kConfigFile;
  if (!fs::exists(file)) return folder;
  std::optional<RunConfig> stored;
  try {
    stored = read_stored_config(file);
  } catch (const Error& damage) {
    if (damage.fault() == Fault::kRuntime) throw;
    warn(damage.what());
    return folder;
  }
  if (run_id(*stored) != folder.id()) {
    throw Error(fmt::format(
        "results folder '{}' holds a run made with another configuration: {} there, {} asked "
        "for; choose another output folder or remove it",
        folder.path_.string(), settings_beyond(*stored, config), settings_beyond(config, *stored)));
  }
  folder.config_is_stored_ = to_yaml(*stored) == to_yaml(config);
  return folder;
}

void RunFolder::store_config() const {
  create_writable_folder(path_);
  if (config_is_stored_) return;
  try {
    write_file_atomically(path_ / kConfigFile, sealed_config(config_));
  } catch (const Error& error) {
    throw Error(fmt::format("{}; free space, or name another folder with --output", error.what()),
                Fault::kRuntime);
  }
}

RunFolder RunFolder::create(const fs::path& experiment, const RunConfig& config) {
  RunFolder folder = at(experiment, config);
  folder.store_config();
  return folder;
}

RunFolder RunFolder::open(const fs::path& given) {
  // Without a trailing slash, so that the last component is the id.
  const fs::path folder = given.has_filename() ? given : given.parent_path();
  const fs::path file = folder / kConfigFile;
  if (!fs::exists(file)) {
    throw Error(fmt::format(
        "'{}' is not a run: it has no {}; where it was one, `che run` with the experiment's config "
        "writes the file anew",
        folder.string(), kConfigFile));
  }
  RunConfig config = read_stored_config(file);
  if (const std::string id = run_id(config); id != folder.filename().string()) {
    throw Error(
        fmt::format("results folder '{}' holds the config of run {}; give it back its name or remove it",
                    folder.string(), id));
  }
  return {folder, std::move(config)};
}

std::vector<MetricsRow> RunFolder::metrics() const {
  const fs::path file = path_ / kMetricsFile;
  if (!fs::exists(file)) return {};
  const CsvRows csv(file.string(), read_file(file), kMetricsColumns,
                    "`che run` goes on without its past; delete the run's folder to train it afresh");
  std::vector<MetricsRow> rows;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    rows.push_back({.step = csv.integer(i, 0),
                    .loss = csv.real(i, 1),
                    .accuracy = csv.real(i, 2),
                    .gradient_norm = csv.real(i, 3),
                    .seconds = csv.real(i, 4)});
  }
  csv.check_checksum(id());
  return rows;
}

std::vector<EvaluationRow> RunFolder::evaluation() const {
  const fs::path file = path_ / kEvaluationFile;
  if (!fs::exists(file)) return {};
  const CsvRows csv(file.string(), read_file(file), kEvaluationColumns,
                    "`che run` evaluates this run afresh");
  std::vector<EvaluationRow> rows;
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>> keys;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    rows.push_back({.length = csv.integer(i, 0),
                    .samples = csv.integer(i, 1),
                    .seed = csv.integer(i, 2),
                    .eval_dropout = std::string(csv.text(i, 3)),
                    .accuracy = csv.real(i, 4),
                    .loss = csv.real(i, 5)});
    const EvaluationRow& row = rows.back();
    if (row.eval_dropout != "on" && row.eval_dropout != "off") csv.fail(i, 3, "on or off");
    if (!(row.accuracy >= 0 && row.accuracy <= 1)) csv.fail(i, 4, "a number from 0 to 1");
    if (!keys.emplace(row.length, row.samples, row.seed, row.eval_dropout).second) {
      csv.fail(i, 0, "each length once for the same samples, seed and eval_dropout");
    }
  }
  csv.check_checksum(id());
  return rows;
}

std::optional<fs::path> RunFolder::set_evaluation_aside() const {
  const fs::path file = path_ / kEvaluationFile;
  if (!fs::exists(file)) return std::nullopt;
  return set_aside(file, "replaced");
}

RunStatus RunFolder::status() const {
  const fs::path file = path_ / kStatusFile;
  if (!fs::exists(file)) return {};
  return parse_status(read_file(file), id(), file.string());
}

StoredRun RunFolder::read() const {
  StoredRun run;
  const auto take = [&](const char* file, auto& member, const auto& reader) {
    try {
      member = (this->*reader)();
    } catch (const Error& error) {
      if (error.fault() == Fault::kRuntime) throw;  // The content may be good.
      run.damage.push_back({path_ / file, error.what()});
    }
  };
  take(kStatusFile, run.status, &RunFolder::status);
  take(kMetricsFile, run.metrics, &RunFolder::metrics);
  take(kEvaluationFile, run.evaluation, &RunFolder::evaluation);
  const fs::path status_file = path_ / kStatusFile;
  if (!fs::exists(status_file) && !(run.metrics.empty() && run.evaluation.empty())) {
    run.damage.push_back({status_file, status_file.string() +
                                           ": is missing beside results; `che run` goes on from the run's "
                                           "checkpoint"});
  }
  if (run.damage.empty()) return run;
  run.status.state = kDamaged;
  run.status.error.clear();
  for (const Damage& damage : run.damage) {
    run.status.error += (run.status.error.empty() ? "" : "; ") + damage.what;
  }
  return run;
}

void RunFolder::set_damage_aside(const WarningSink& warn) const {
  for (const Damage& damage : read().damage) {
    if (!fs::exists(damage.file)) {
      warn(damage.what);
      continue;
    }
    const fs::path aside = set_aside(damage.file, kDamaged);
    warn(fmt::format("{} (now {})", damage.what, aside.filename().string()));
  }
}

void RunFolder::write_rows(const char* file, const std::vector<std::string>& columns,
                           std::string_view rows) const {
  if (rows.empty()) {
    std::error_code error;
    fs::remove(path_ / file, error);
    if (error) {
      throw Error(fmt::format("cannot remove '{}': {}", (path_ / file).string(), error.message()),
                  Fault::kRuntime);
    }
    return;
  }
  const std::string header = fmt::format("{}\n", fmt::join(columns.begin(), columns.end() - 1, ","));
  write_file_atomically(path_ / file, with_checksum_column(header + std::string(rows), id()));
}

void RunFolder::write_metrics(const std::vector<MetricsRow>& rows) const {
  std::string text;
  for (const MetricsRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", row.step, row.loss, row.accuracy,
                   row.gradient_norm, row.seconds);
  }
  write_rows(kMetricsFile, kMetricsColumns, text);
}

void RunFolder::write_evaluation(const std::vector<EvaluationRow>& rows) const {
  std::string text;
  for (const EvaluationRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n", row.length, row.samples, row.seed,
                   row.eval_dropout, row.accuracy, row.loss);
  }
  write_rows(kEvaluationFile, kEvaluationColumns, text);
}

void RunFolder::write_status(const RunStatus& status) const {
  write_file_atomically(path_ / kStatusFile, to_json(status, id()));
}

void RunFolder::mark_failed(const std::string& reason) const {
  RunStatus current;
  try {
    current = status();
  } catch (const Error& error) {
    if (error.fault() == Fault::kRuntime) throw;
    // Damaged: there is nothing to keep.
  }
  if (current.state == "finished" || current.state == "failed") return;
  current.state = "failed";
  current.error = reason;
  current.updated = current_utc_time();
  write_status(current);
}

void RunFolder::write_tensorboard(const std::vector<MetricsRow>& metrics,
                                  const std::vector<EvaluationRow>& evaluation,
                                  const RunStatus& status) const {
  if (config_.log.tensorboard != "true") return;
  write_file_atomically(path_ / kTensorboardFile,
                        tensorboard_events(metrics, present_rows(evaluation, config_.evaluation),
                                           utc_seconds(status.started).value_or(0)));
}

std::vector<RunFolder> open_runs(const fs::path& experiment, const WarningSink& warn) {
  const fs::path folder = experiment / "runs";
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    throw Error(fmt::format("no results in '{}': cannot read '{}': {}; name a folder that `che run` wrote",
                            experiment.string(), folder.string(), error.message()));
  }
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : entries) {
    if (entry.is_directory() && holds_anything(entry.path())) paths.push_back(entry.path());
  }
  if (paths.empty()) {
    throw Error(fmt::format("no results in '{}': '{}' holds no runs; name a folder that `che run` wrote",
                            experiment.string(), folder.string()));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<RunFolder> runs;
  for (const fs::path& path : paths) {
    try {
      runs.push_back(RunFolder::open(path));
    } catch (const Error& damage) {
      if (damage.fault() == Fault::kRuntime) throw;
      warn(fmt::format("left out: {}", damage.what()));
    }
  }
  if (runs.empty()) throw Error(fmt::format("no results in '{}': every run is damaged", experiment.string()));
  return runs;
}

}  // namespace che
