#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/exchange/bundle.h"
#include "experiments/plan/run_filter.h"

namespace che {

// Which runs of a bundle are trained again. Runs are drawn without keeping more of them than asked for.
class RetrainingChoice {
 public:
  struct Options {
    std::optional<std::size_t> count;  // How many; nothing for all.
    std::int64_t seed = 0;             // Another draws other runs.
    RunConditions conditions = {};
  };

  // Throws Error (usage) for what is no condition.
  explicit RetrainingChoice(const Options& options);

  // Shows it a run of the bundle; each once.
  void consider(BundledRun run);

  // The runs to train again, by id. Throws Error (usage) when there are not as many as asked for, or none,
  // and says what became of the others; also for a misspelt key or value.
  std::vector<BundledRun> chosen() const;

  // Why runs that the conditions hold for cannot be trained again: reasons with the number of runs.
  const std::map<std::string, std::size_t>& left_out() const { return left_out_; }

 private:
  Options options_;
  std::vector<RunFilter> filters_;
  std::size_t considered_ = 0;
  std::size_t eligible_ = 0;
  std::map<std::string, std::size_t> left_out_;
  std::map<std::string, BundledRun> drawn_;  // By a hash of seed and id.
};

// The results folder of `che verify --retrain`. Runs in it prove something only if this command trained them:
// a stranger's archive may hold a finished run, or one that is nearly trained. So the folder has a list of
// the runs that the command began, with the inode and the change time of each config.yaml, which no archive
// can set. Other runs of the folder count, too: training goes on from a shorter one.
class RetrainingFolder {
 public:
  // Throws Error (usage) where a run of the folder was begun by anything else.
  RetrainingFolder(std::filesystem::path experiment, const std::vector<RunConfig>& runs);

  // Lists the runs, whose configs are stored by now. Throws Error (runtime) when the disk refuses.
  void store() const;

 private:
  std::filesystem::path experiment_;
  std::set<std::string> listed_;  // A line for each run that the command began.
  std::vector<std::string> ids_;
};

}  // namespace che
