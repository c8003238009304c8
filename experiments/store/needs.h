#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/plan/operations.h"
#include "experiments/store/run_folder.h"

namespace che {

// Finds the finished runs next to `run` (which may not be stored yet) that differ from it in fewer training
// steps alone and still have a checkpoint; the longest first. Batches, dropout and a warm-up depend on the
// step's number only, so `run` passes through the parameters of these runs and can begin with them. They are
// the same bits where the same build computes on the same kind of processor. Leaves out a run that has passed
// a step that `run` wants evaluated without rows for it. Only reads their folders. `neighbours` is what
// stored_runs() returns: a caller that asks for many runs lists them once.
std::vector<RunFolder> shorter_runs(const RunFolder& run,
                                    const std::vector<std::filesystem::path>& neighbours);

// The sorted entries of an experiment's folder runs/.
std::vector<std::filesystem::path> stored_runs(const std::filesystem::path& experiment);

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

// Assesses a folder, and looks for shorter runs among `neighbours`; see shorter_runs(). Without any it finds
// none.
RunNeeds assess(const RunFolder& folder, const std::vector<std::filesystem::path>& neighbours = {});

// Assesses it as it is when its run begins again.
RunNeeds assess_anew(const RunFolder& folder, const std::vector<std::filesystem::path>& neighbours);

// Returns the commands that train a finished run again whose model is no longer stored: the first sets one
// more test length, the second takes it out of the scores.
std::string retraining_commands(const RunFolder& run);

}  // namespace che
