#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/plan/operations.h"
#include "experiments/store/run_folder.h"

namespace che {

// The runs of an experiment that have a checkpoint, as the first question finds them. Whoever asks for many
// runs keeps one of these, which reads a config once. Several threads may ask, and one at a time reads.
class StoredRuns {
 public:
  StoredRuns() : entries_(std::in_place) {}  // There are none.
  explicit StoredRuns(std::filesystem::path experiment) : experiment_(std::move(experiment)) {}

  // Returns those that are `run` (which may not be stored yet) but for their training steps, the longest
  // first. Leaves out what cannot be read.
  const std::vector<RunFolder>& of_any_steps(const RunFolder& run) const;

 private:
  using Group = std::map<std::string, std::vector<RunFolder>>;  // By what of_any_steps() compares.

  Group read_group(std::string_view readable) const;

  std::filesystem::path experiment_;
  mutable std::mutex mutex_;
  mutable std::optional<std::vector<std::filesystem::path>> entries_;  // Sorted.
  mutable std::map<std::string, Group> groups_;                        // By the readable part of ids.
};

// Finds the finished runs among `stored` that differ from `run` in fewer training steps alone; the longest
// first, `most` at most. Batches, dropout and a warm-up depend on the step's number only, so `run` passes
// through the parameters of these runs and can begin with them. They are the same bits where the same build
// computes on the same kind of processor. Leaves out a run that has passed a step that `run` wants evaluated
// without rows for it. Only reads their folders.
std::vector<RunFolder> shorter_runs(const RunFolder& run, const StoredRuns& stored,
                                    std::size_t most = std::numeric_limits<std::size_t>::max());

// How a stored run compares with what its config wants.
struct RunNeeds {
  RunState state = RunState::kWaiting;
  bool is_damaged = false;   // Whether some file of it is.
  bool has_model = false;    // Whether it has a checkpoint, of any step.
  bool was_trained = false;  // Whether it was trained to its end, whatever is lost of it since.
  // Test lengths that are not measured; all of them where a stored model can write missing predictions.
  std::vector<std::int64_t> missing;
  // Whether nothing but its predictions is missing, as in a bundle, and no stored model can write them.
  bool has_lost_predictions = false;
  // Steps of evaluation.at_steps that the run has passed without all rows: they, or other lengths or samples,
  // were set later, and only training again can measure them.
  std::vector<std::int64_t> passed;
  // Without a model of its own, the shorter run that it goes on from and that run's last step.
  std::string continues = {};
  std::int64_t first_step = 0;
  // The work left for `che run`. Without a model it begins at `first_step`, unless no test length is missing.
  Operations left = {};

  bool is_complete() const { return !is_damaged && state == RunState::kFinished && missing.empty(); }
  bool is_begun() const { return is_damaged || state != RunState::kWaiting; }
  // Whether nothing is left but to measure its stored model at test lengths.
  bool only_lacks_lengths() const { return was_trained && !is_damaged && !missing.empty() && has_model; }
  // Whether test lengths are missing that no stored model can measure.
  bool has_lost_model() const { return was_trained && !missing.empty() && !has_model; }
  // Whether --retrain trains it again although no test length is missing.
  bool may_be_retrained() const { return has_lost_predictions || may_begin_again(); }
  // Whether --retrain deletes its model, so that it can measure steps that the run has passed.
  bool may_begin_again() const { return !passed.empty() && !has_lost_model(); }
};

// `config` may differ from the stored config in its evaluation. Looks for no shorter run.
RunNeeds assess(const RunConfig& config, const StoredRun& stored, bool has_model);

// Assesses a folder, and looks for shorter runs among `others`; see shorter_runs().
RunNeeds assess(const RunFolder& folder, const StoredRuns& others = {});

// Assesses it as it is when its run begins again.
RunNeeds assess_anew(const RunFolder& folder, const StoredRuns& others);

// Returns the commands that train a finished run again whose model is no longer stored: the first sets one
// more test length, the second takes it out of the scores.
std::string retraining_commands(const RunFolder& run);

}  // namespace che
