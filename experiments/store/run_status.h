#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace che {

// How far a run has come, as its status file says.
enum class RunState : std::uint8_t { kWaiting, kTraining, kEvaluating, kFinished, kInterrupted, kFailed };

// The state's word in files and messages: "waiting", "training", "evaluating", "finished", "interrupted",
// "failed".
std::string state_name(RunState state);

struct RunStatus {
  RunState state = RunState::kWaiting;
  std::int64_t step = 0;  // Updates made.
  // Of wall time that its jobs worked on it. Runs of one job share its steps: each has the job's whole time,
  // and the sum over such runs counts it once for each.
  double training_seconds = 0;
  double evaluation_seconds = 0;
  std::string error;       // Why it failed.
  std::string git_commit;  // Of the program that last worked on it.
  std::string version;     // Of the program.
  std::string torch_version;
  std::string device;  // "cpu"
  std::string host;
  std::string processor = {};  // Of that host; empty in files that were written without it.
  // The run with fewer steps whose checkpoint this one began with; empty for a run that began at step 0.
  std::string continued_from = {};
  std::string started;  // UTC, ISO 8601
  std::string updated;  // UTC, ISO 8601
};

// JSON with a checksum that holds for the run `id` alone.
std::string to_json(const RunStatus& status, std::string_view id);

// Reads what to_json wrote. Throws Error (usage) that names `file` and what is wrong with it.
RunStatus parse_status(std::string_view text, std::string_view id, const std::string& file);

// Now, in UTC, as a status holds it: "2026-01-31T23:59:59Z".
std::string current_utc_time();

// Such a time in seconds since 1970; nothing for any other text.
std::optional<double> utc_seconds(const std::string& time);

}  // namespace che
