#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/plan/operations.h"
#include "experiments/store/run_folder.h"

namespace che {

// The finished runs next to `run`, stored or not, that are equal to it but for fewer training steps, and that
// still have a checkpoint; the longest first. The step number is all that a step knows of where it stands
// (batches, dropout and a warm-up depend on nothing else), so that `run` passes through their parameters, bit
// for bit, and can begin with them. A run that has passed one of the steps that `run` wants evaluated,
// without rows for it, is left out. Their folders are only read.
std::vector<RunFolder> shorter_runs(const RunFolder& run);

// How a stored run stands against what is asked of it.
struct RunNeeds {
  RunState state = RunState::kWaiting;  // As stored.
  bool is_damaged = false;              // Whether some file of it is.
  bool has_model = false;               // Whether parameters of the step that its status names are there.
  bool was_trained = false;             // Whether it was trained to its end, whatever is lost of it since.
  // Test lengths that are asked for and not measured; all of them where the run's predictions are missing.
  std::vector<std::int64_t> missing;
  // Steps of evaluation.at_steps that the run has passed and that lack rows: only a run that is trained again
  // can be measured at them.
  std::vector<std::int64_t> passed;
  // Which shorter run it goes on from where it has no model of its own, see shorter_runs(); and at what step.
  std::string continues = {};
  std::int64_t first_step = 0;
  // What `che run` has left to do. Without a model it begins at `first_step`, unless no test length is
  // missing.
  Operations left = {};

  bool is_complete() const { return !is_damaged && state == RunState::kFinished && missing.empty(); }
  bool is_begun() const { return is_damaged || state != RunState::kWaiting; }
  // Whether nothing is left but to measure its stored model at test lengths.
  bool only_lacks_lengths() const { return was_trained && !is_damaged && !missing.empty() && has_model; }
  // Whether test lengths are missing that no stored model can measure.
  bool has_lost_model() const { return was_trained && !missing.empty() && !has_model; }
  // Whether it begins with the parameters of a shorter run.
  bool is_continuation() const { return !continues.empty(); }
};

// The steps of the config's evaluation.at_steps before `step` that `at_steps` lacks rows of.
std::vector<std::int64_t> passed_steps(const StepRows& at_steps, std::int64_t step, const RunConfig& config);

// `config` is what is asked of the run, whose evaluation may differ from the stored config's. No shorter run
// is looked for.
RunNeeds assess(const RunConfig& config, const StoredRun& stored, bool has_model);

// The same of what is in the folder, and next to it, now.
RunNeeds assess(const RunFolder& folder);

// The command that trains a finished run again whose model is no longer stored: it asks for one test length
// after the last.
std::string retraining_command(const RunFolder& run);

}  // namespace che
