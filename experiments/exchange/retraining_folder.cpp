#include "experiments/exchange/retraining_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/file_lock.h"
#include "core/files.h"
#include "experiments/plan/identity.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigName = "config.yaml";

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

RetrainingFolder::RetrainingFolder(fs::path experiment, const std::vector<RunConfig>& runs)
    : experiment_(std::move(experiment)) {
  if (is_present(list_path(experiment_))) {
    std::istringstream lines(read_file(list_path(experiment_)));
    for (std::string line; std::getline(lines, line);) listed_.insert(line);
  }
  for (const RunConfig& run : runs) {
    const std::string& id = ids_.emplace_back(run_id(run));
    if (!is_begun(run_path(experiment_, id))) continue;
    const std::optional<std::string> line = line_of(experiment_, id);
    if (line && listed_.contains(*line)) continue;
    throw Error(
        fmt::format("--retrain: '{}' was not begun by this command, so that its results prove nothing; name "
                    "another folder with -o, or remove it",
                    run_path(experiment_, id).string()));
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
