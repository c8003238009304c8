#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "experiments/store/run_folder.h"

namespace che {

// The results folder of `che verify --retrain`. Runs in it prove something only if this command trained them:
// a stranger's archive may hold a finished run, or one that is nearly trained. So the folder has a list of
// the runs that the command began, with the inode and the change time of each config.yaml, which no archive
// can set.
class RetrainingFolder {
 public:
  // Throws Error (usage) where one of the runs was begun in the folder by anything else.
  RetrainingFolder(std::filesystem::path experiment, const std::vector<RunConfig>& runs);

  // Lists the runs, whose configs are stored by now. Throws Error (runtime) when the disk refuses.
  void store() const;

 private:
  std::filesystem::path experiment_;
  std::set<std::string> listed_;  // A line for each run that the command began.
  std::vector<std::string> ids_;
};

}  // namespace che
