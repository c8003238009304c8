#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/plan/operations.h"
#include "experiments/store/run_folder.h"

namespace che {

// How a stored run stands against what is asked of it.
struct RunNeeds {
  RunState state = RunState::kWaiting;  // As stored.
  bool is_damaged = false;              // Whether some file of it is.
  bool has_model = false;               // Whether parameters of the step that its status names are there.
  bool was_trained = false;             // Whether it was trained to its end, whatever is lost of it since.
  std::vector<std::int64_t> missing;    // Test lengths that are asked for and not measured.
  // What `che run` has left to do. Without a model it begins again, unless no test length is missing.
  Operations left;

  bool is_complete() const { return !is_damaged && state == RunState::kFinished && missing.empty(); }
  bool is_begun() const { return is_damaged || state != RunState::kWaiting; }
  // Whether nothing is left but to measure its stored model at test lengths.
  bool only_lacks_lengths() const { return was_trained && !is_damaged && !missing.empty() && has_model; }
  // Whether test lengths are missing that no stored model can measure.
  bool has_lost_model() const { return was_trained && !missing.empty() && !has_model; }
};

// `config` is what is asked of the run, whose evaluation may differ from the stored config's.
RunNeeds assess(const RunConfig& config, const StoredRun& stored, bool has_model);

// The same of what is in the folder now.
RunNeeds assess(const RunFolder& folder);

// The command that trains a finished run again whose model is no longer stored: it asks for one test length
// after the last.
std::string retraining_command(const RunFolder& run);

}  // namespace che
