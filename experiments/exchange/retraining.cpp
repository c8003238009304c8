#include "experiments/exchange/retraining.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/config/reader.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "core/files.h"
#include "core/hashes.h"
#include "core/text.h"
#include "experiments/exchange/archive.h"
#include "experiments/plan/run_workload.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/run_rows.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// Why a run cannot be trained again; empty where it can.
std::string obstacle(const BundledRun& run) {
  if (run.config.is_foreign()) return "predictions of a model outside che";
  if (run.status.state != RunState::kFinished || !score(run.evaluation, run.config)) return "without a score";
  if (!run.config.is_drawn()) return "on a version of the task that this che does not draw";
  if (!run.config.has_text()) return "";
  try {
    create_workload(run.config)->vocabulary();  // Opens the corpus.
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw;
    return fmt::format(
        "on the text {}, whose corpus of hash {} is not in '{}' here (name its folder with --corpus): {}",
        run.config.text.name, run.config.text.hash, run.config.text.corpus, error.what());
  }
  return "";
}

constexpr const char* kConfigName = "config.yaml";
constexpr std::size_t kMaxListBytes = std::size_t{64} << 20;  // Lines of more than 500,000 runs.

fs::path run_path(const fs::path& experiment, const std::string& id) { return experiment / "runs" / id; }

fs::path list_path(const fs::path& experiment) { return experiment / "retraining.txt"; }

// Whether a run's folder holds more than its config and locks.
bool is_begun(const fs::path& run) {
  std::error_code error;
  for (const fs::path& entry : entries_of(run, error)) {
    const std::string name = entry.filename().string();
    if (name != kConfigName && !is_lock_file(name) && !name.starts_with('.')) return true;
  }
  if (!error || error == std::errc::no_such_file_or_directory) return false;
  throw Error(fmt::format("cannot read '{}': {}", run.string(), error.message()), ErrorKind::kRuntime);
}

// A run's line in the list; nothing where it has no config.
std::optional<std::string> line_of(const fs::path& experiment, const std::string& id) {
  struct stat file {};
  if (::lstat((run_path(experiment, id) / kConfigName).c_str(), &file) != 0) return std::nullopt;
  return fmt::format("{} {} {}.{:09}", id, file.st_ino, file.st_ctim.tv_sec, file.st_ctim.tv_nsec);
}

}  // namespace

RetrainingChoice::RetrainingChoice(const Options& options)
    : options_(options), filters_(filters_of(options.conditions, {})) {}

void RetrainingChoice::consider(BundledRun run) {
  ++considered_;
  const AskedRun asked(run.config, {});
  bool holds = true;
  for (RunFilter& filter : filters_) holds &= filter.chooses(asked);
  if (!holds) return;
  if (const std::string reason = obstacle(run); !reason.empty()) {
    ++left_out_[reason];
    return;
  }
  ++eligible_;
  // Bundles may have very many rows more, of which none is compared.
  const auto keep_asked = [&](std::vector<EvaluationRow>& rows) {
    std::vector<EvaluationRow> present = present_rows(rows, run.config);
    run.further_rows += rows.size() - present.size();
    rows = std::move(present);
  };
  keep_asked(run.evaluation);
  for (auto& [step, rows] : run.at_steps) keep_asked(rows);
  std::erase_if(run.at_steps, [](const auto& measured) { return measured.second.empty(); });
  // Earlier configs may have asked for other steps. All together may be more than one config can have.
  std::set<std::int64_t> steps(run.config.evaluation.at_steps.begin(), run.config.evaluation.at_steps.end());
  std::erase_if(run.at_steps, [&](const auto& measured) {
    if (steps.size() < kMostListedNumbers) steps.insert(measured.first);
    if (steps.contains(measured.first)) return false;
    run.further_rows += measured.second.size();
    return true;
  });
  drawn_.emplace(sha256(fmt::format("{} {}", options_.seed, run.id)), std::move(run));
  if (options_.count && drawn_.size() > *options_.count) drawn_.erase(std::prev(drawn_.end()));
}

std::vector<BundledRun> RetrainingChoice::chosen() const {
  for (const RunFilter& filter : filters_) filter.check_made_sense();
  if (eligible_ == 0 || eligible_ < options_.count.value_or(0)) {
    std::vector<std::string> others;
    std::size_t passed_over = considered_ - eligible_;
    for (const auto& [reason, runs] : left_out_) {
      others.push_back(fmt::format("{} {}", runs, reason));
      passed_over -= runs;
    }
    if (passed_over > 0)
      others.push_back(fmt::format("{} not chosen by {}", passed_over, options_text(filters_)));
    throw Error(fmt::format(
        "--retrain: {} of {} can be trained again{}; allowed: {}", eligible_, counted(considered_, "run"),
        others.empty() ? "" : fmt::format(" ({})", fmt::join(others, ", ")),
        eligible_ == 0 ? "a bundle with finished runs of che" : fmt::format("1 to {}, or all", eligible_)));
  }
  for (const RunFilter& filter : filters_) {
    for (const std::string& value : filter.unheld_values()) {
      print_warning(fmt::format("{}: no run of the bundle has {}", filter.option(), value));
    }
  }
  std::vector<BundledRun> runs;
  runs.reserve(drawn_.size());
  for (const auto& [hash, run] : drawn_) runs.push_back(run);
  std::ranges::sort(runs, {}, &BundledRun::id);
  return runs;
}

RetrainingFolder::RetrainingFolder(fs::path experiment, const std::vector<RunConfig>& runs)
    : experiment_(std::move(experiment)) {
  if (is_present(list_path(experiment_))) {
    std::istringstream lines(read_file(list_path(experiment_), kMaxListBytes));
    for (std::string line; std::getline(lines, line);) listed_.insert(line);
  }
  for (const RunConfig& run : runs) ids_.push_back(run_id(run));
  // All runs, as training may go on from a shorter one.
  std::error_code error;
  for (const fs::path& run : entries_of(experiment_ / "runs", error)) {
    if (!is_begun(run)) continue;
    const std::optional<std::string> line = line_of(experiment_, run.filename().string());
    const bool is_listed = line && listed_.contains(*line);
    // Bundles have results and no models. A run that is not measured yet begins at its checkpoint, or anew.
    if (is_listed && (!is_present(run / "evaluation.csv") || has_checkpoint(run))) continue;
    throw Error(
        fmt::format("--retrain: '{}' {}, so that nothing in its folder proves a result; name another folder "
                    "with -o, or remove it",
                    run.string(), is_listed ? "has results and no model" : "was not begun by this command"));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw Error(fmt::format("cannot read '{}': {}", (experiment_ / "runs").string(), error.message()),
                ErrorKind::kRuntime);
  }
}

void RetrainingFolder::store() const {
  std::set<std::string> lines = listed_;
  for (const std::string& id : ids_) {
    // Its older line, of another config.yaml, means nothing any more.
    std::erase_if(lines, [&](const std::string& line) { return line.starts_with(id + " "); });
    if (const auto line = line_of(experiment_, id)) lines.insert(*line);
  }
  write_file_atomically(list_path(experiment_), fmt::format("{}\n", fmt::join(lines, "\n")));
}

}  // namespace che
