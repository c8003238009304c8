#include "experiments/store/shorter_run.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/error.h"
#include "experiments/plan/identity.h"
#include "experiments/store/checkpoint.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// The id without its hash, which the names of all such runs begin with.
std::string readable_part(const std::string& id) { return id.substr(0, id.rfind('-') + 1); }

bool is_shorter(const RunFolder& other, const RunFolder& run) {
  const RunConfig& config = run.config();
  RunConfig as_long = other.config();
  if (as_long.training.steps == 0 || as_long.training.steps >= config.training.steps) return false;
  as_long.training.steps = config.training.steps;
  if (run_id(as_long) != run.id() || !has_checkpoint(other.path())) return false;
  const StoredRun stored = other.read();
  if (stored.status.state != RunState::kFinished || !stored.damage.empty()) return false;
  return std::ranges::all_of(config.evaluation.at_steps, [&](std::int64_t step) {
    const auto rows = stored.at_steps.find(step);
    return step >= other.config().training.steps ||
           (rows != stored.at_steps.end() && missing_lengths(rows->second, config).empty());
  });
}

}  // namespace

std::vector<RunFolder> shorter_runs(const RunFolder& run) {
  std::vector<RunFolder> shorter;
  const std::string begin = readable_part(run.id());
  std::error_code error;
  fs::directory_iterator entry(run.path().parent_path(), error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (readable_part(name) != begin || name == run.id()) continue;
    // Whatever cannot be read is no run to go on from; the commands that show runs say why.
    try {
      const InspectedRun other = RunFolder::inspect(entry->path());
      if (other.run && is_shorter(*other.run, run)) shorter.push_back(*other.run);
    } catch (const Error&) {
      continue;
    }
  }
  std::ranges::sort(shorter, std::greater<>(),
                    [](const RunFolder& one) { return one.config().training.steps; });
  return shorter;
}

}  // namespace che
