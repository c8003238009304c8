#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace che {

// How far a run has come, as its status file says.
enum class RunState : std::uint8_t { kWaiting, kTraining, kEvaluating, kFinished, kInterrupted, kFailed };

// The state's word in files and messages: "waiting", "training", "evaluating", "finished", "interrupted",
// "failed".
std::string state_name(RunState state);

struct RunStatus {
  RunState state = RunState::kWaiting;
  std::int64_t step = 0;  // Updates so far.
  // Wall time of its jobs. Each run of a job has the whole time of the job.
  double training_seconds = 0;
  double evaluation_seconds = 0;
  std::string error;  // Why it failed.
  // The program that last worked on it.
  std::string git_commit;
  std::string version;
  std::string torch_version;
  std::string device;  // As cpu_text() has it, or "cuda (NVIDIA H200, tf32, graphs)".
  std::string host;
  std::string processor = {};  // Empty in files that were written without it.
  // Other programs, processors, GPUs or settings of execution that worked on it before, as computed_by()
  // names them, joined by "; ".
  std::string earlier = {};
  // The run with fewer steps whose checkpoint this one began with; empty for a run that began at step 0.
  std::string continued_from = {};
  // How a model outside che was trained, as its author states it, for people to read: the newest statement,
  // then those of other rows that the run has or had. Empty where nothing is stated and for models of che.
  std::vector<std::string> stated_training = {};
  std::string started;  // UTC, ISO 8601
  std::string updated;  // UTC, ISO 8601
};

// Returns the processor or, with its settings, the GPU that computed a run: "AMD EPYC (family 25, model 1)"
// or "cuda (NVIDIA H200, tf32)".
std::string hardware_of(const RunStatus& status);

// Returns the program, the hardware and what changes a CPU's rounding: "che 0.3.0, commit abc1234, on AMD
// EPYC (reference kernels)".
std::string computed_by(const RunStatus& status);

// Adds whoever worked on `before`, and earlier on it, to the earlier ones of `status`.
void add_earlier(RunStatus& status, const RunStatus& before);

// JSON with a checksum that holds for the run `id` alone.
std::string to_json(const RunStatus& status, std::string_view id);

// Reads what to_json wrote. Throws Error (usage) that names `file` and what is wrong with it.
RunStatus parse_status(std::string_view text, std::string_view id, const std::string& file);

// Returns the time as a status holds it: "2026-01-31T23:59:59Z".
std::string current_utc_time();

// Returns such a time in seconds since 1970, or nothing for any other text.
std::optional<double> utc_seconds(const std::string& time);

}  // namespace che
