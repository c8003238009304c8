#include "experiments/results_store.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include "core/atomic_file.h"
#include "core/error.h"
#include "experiments/csv.h"

namespace che {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kConfigFile = "config.yaml";
constexpr const char* kMetricsFile = "metrics.csv";
constexpr const char* kEvaluationFile = "evaluation.csv";
constexpr const char* kStatusFile = "status.json";

const std::vector<std::string> kMetricsColumns = {"step", "loss", "accuracy", "gradient_norm", "seconds"};
const std::vector<std::string> kEvaluationColumns = {"length",       "samples",  "seed",
                                                     "eval_dropout", "accuracy", "loss"};
constexpr std::array<const char*, 6> kStates = {"waiting",  "training",    "evaluating",
                                                "finished", "interrupted", "failed"};

// Applies `each(key, member)` to everything status.json holds, in its order.
template <class Status, class Each>
void for_each_status_member(Status& status, Each each) {
  each("state", status.state);
  each("step", status.step);
  each("training_seconds", status.training_seconds);
  each("evaluation_seconds", status.evaluation_seconds);
  each("error", status.error);
  each("git_commit", status.git_commit);
  each("version", status.version);
  each("torch_version", status.torch_version);
  each("device", status.device);
  each("host", status.host);
  each("started", status.started);
  each("updated", status.updated);
}

void assign(const Json& value, std::string& member) {
  if (!value.is_string()) throw Error("a string");
  member = value.get<std::string>();
}

void assign(const Json& value, std::int64_t& member) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0) throw Error("a whole number >= 0");
  member = value.get<std::int64_t>();
}

void assign(const Json& value, double& member) {
  if (!value.is_number()) throw Error("a number");
  member = value.get<double>();
}

RunStatus parse_status(const std::string& file, const std::string& text) {
  const auto fail = [&](const std::string& problem) {
    throw Error(fmt::format("{}: {}; the file is damaged: delete it: the run goes on from its checkpoint",
                            file, problem));
  };
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    fail(fmt::format("not JSON ({})", error.what()));
  }
  if (!json.is_object()) fail("found " + std::string(json.type_name()) + ", expected an object");
  RunStatus status;
  for_each_status_member(status, [&](const char* key, auto& member) {
    if (!json.contains(key)) fail(fmt::format("'{}' is missing", key));
    try {
      assign(json[key], member);
    } catch (const Error& expected) {
      fail(fmt::format("{}: found {}, expected {}", key, json[key].dump(), expected.what()));
    }
  });
  if (std::find(kStates.begin(), kStates.end(), status.state) == kStates.end()) {
    fail(fmt::format("state: unknown state '{}'", status.state));
  }
  return status;
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

}  // namespace

void create_writable_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
  if (error) {
    throw Error(
        fmt::format("cannot write results to '{}': {}; name another folder with --output or make this "
                    "one writable",
                    folder.string(), error.message()));
  }
}

RunFolder::RunFolder(fs::path path, RunConfig config) : path_(std::move(path)), config_(std::move(config)) {}

void RunFolder::check(const fs::path& experiment, const RunConfig& config) {
  const fs::path folder = experiment / "runs" / run_id(config);
  const fs::path file = folder / kConfigFile;
  if (!fs::exists(file)) return;
  const RunConfig stored = read_run_config(file.string());
  if (run_id(stored) != folder.filename().string()) {
    throw Error(
        fmt::format("results folder '{}' holds a run made with another configuration: {} there, {} asked "
                    "for; choose another output folder or remove it",
                    folder.string(), settings_beyond(stored, config), settings_beyond(config, stored)));
  }
  const RunFolder run(folder, stored);
  run.status();
  run.metrics();
  run.evaluation();
}

RunFolder RunFolder::create(const fs::path& experiment, const RunConfig& config) {
  check(experiment, config);
  const fs::path folder = experiment / "runs" / run_id(config);
  const fs::path file = folder / kConfigFile;
  create_writable_folder(folder);
  const std::string text = to_yaml(config);
  if (fs::exists(file) && read_file(file) == text) return RunFolder(folder, config);
  try {
    write_file_atomically(file, text);
  } catch (const Error& error) {
    throw Error(fmt::format("{}; free space, or name another folder with --output", error.what()));
  }
  return RunFolder(folder, config);
}

RunFolder RunFolder::open(const fs::path& given) {
  // Without a trailing slash, so that the last component is the id.
  const fs::path folder = given.has_filename() ? given : given.parent_path();
  const fs::path file = folder / kConfigFile;
  if (!fs::exists(file)) {
    throw Error(
        fmt::format("'{}' is not a run: it has no {}; remove the folder", folder.string(), kConfigFile));
  }
  RunConfig config = read_run_config(file.string());
  if (const std::string id = run_id(config); id != folder.filename().string()) {
    throw Error(
        fmt::format("results folder '{}' holds the config of run {}; give it back its name or remove it",
                    folder.string(), id));
  }
  return RunFolder(folder, std::move(config));
}

std::vector<MetricsRow> RunFolder::metrics() const {
  const fs::path file = path_ / kMetricsFile;
  if (!fs::exists(file)) return {};
  const CsvRows csv(file.string(), read_file(file), kMetricsColumns,
                    "delete the run's folder to train it afresh, or this file to go on without its past");
  std::vector<MetricsRow> rows;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    rows.push_back({.step = csv.integer(i, 0),
                    .loss = csv.real(i, 1),
                    .accuracy = csv.real(i, 2),
                    .gradient_norm = csv.real(i, 3),
                    .seconds = csv.real(i, 4)});
  }
  return rows;
}

std::vector<EvaluationRow> RunFolder::evaluation() const {
  const fs::path file = path_ / kEvaluationFile;
  if (!fs::exists(file)) return {};
  const CsvRows csv(file.string(), read_file(file), kEvaluationColumns,
                    "delete it and run the experiment again to evaluate this run afresh");
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
  return rows;
}

RunStatus RunFolder::status() const {
  const fs::path file = path_ / kStatusFile;
  if (!fs::exists(file)) return {};
  return parse_status(file.string(), read_file(file));
}

void RunFolder::write_metrics(const std::vector<MetricsRow>& rows) const {
  std::string text = fmt::format("{}\n", fmt::join(kMetricsColumns, ","));
  for (const MetricsRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", row.step, row.loss, row.accuracy,
                   row.gradient_norm, row.seconds);
  }
  write_file_atomically(path_ / kMetricsFile, text);
}

void RunFolder::write_evaluation(const std::vector<EvaluationRow>& rows) const {
  std::string text = fmt::format("{}\n", fmt::join(kEvaluationColumns, ","));
  for (const EvaluationRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n", row.length, row.samples, row.seed,
                   row.eval_dropout, row.accuracy, row.loss);
  }
  write_file_atomically(path_ / kEvaluationFile, text);
}

void RunFolder::mark_failed(const std::string& reason) const {
  RunStatus current = status();
  if (current.state == "finished" || current.state == "failed") return;
  current.state = "failed";
  current.error = reason;
  current.updated = current_utc_time();
  write_status(current);
}

void RunFolder::write_status(const RunStatus& status) const {
  Json json;
  for_each_status_member(status, [&](const char* key, const auto& member) { json[key] = member; });
  // An error message may carry bytes that are not UTF-8.
  write_file_atomically(path_ / kStatusFile, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<std::vector<EvaluationRow>> requested_rows(const std::vector<EvaluationRow>& rows,
                                                         const EvaluationConfig& config) {
  std::map<std::int64_t, const EvaluationRow*> by_length;
  for (const EvaluationRow& row : rows) {
    if (row.samples == config.samples && row.seed == config.seed && row.eval_dropout == config.eval_dropout) {
      by_length[row.length] = &row;
    }
  }
  std::vector<EvaluationRow> requested;
  for (const std::int64_t length : config.lengths()) {
    const auto found = by_length.find(length);
    if (found == by_length.end()) return std::nullopt;
    requested.push_back(*found->second);
  }
  return requested;
}

std::optional<double> score(const std::vector<EvaluationRow>& rows, const EvaluationConfig& config) {
  const auto requested = requested_rows(rows, config);
  if (!requested || requested->empty()) return std::nullopt;
  double sum = 0;
  for (const EvaluationRow& row : *requested) sum += row.accuracy;
  return sum / static_cast<double>(requested->size());
}

std::string current_utc_time() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::vector<RunFolder> open_runs(const fs::path& experiment) {
  const fs::path folder = experiment / "runs";
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    throw Error(fmt::format("no results in '{}': cannot read '{}': {}; name a folder that `che run` wrote",
                            experiment.string(), folder.string(), error.message()));
  }
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : entries) {
    if (entry.is_directory() && !fs::is_empty(entry.path())) paths.push_back(entry.path());
  }
  if (paths.empty()) {
    throw Error(fmt::format("no results in '{}': '{}' holds no runs; name a folder that `che run` wrote",
                            experiment.string(), folder.string()));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<RunFolder> runs;
  for (const fs::path& path : paths) runs.push_back(RunFolder::open(path));
  return runs;
}

}  // namespace che
