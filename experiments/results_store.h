#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config.h"

namespace che {

// One row of metrics.csv: means over the training steps since the row before.
struct MetricsRow {
  std::int64_t step = 0;     // Updates made so far.
  double loss = 0;           // Nats per output symbol.
  double accuracy = 0;       // 0 .. 1
  double gradient_norm = 0;  // Before clipping.
  double seconds = 0;        // Training time of the run so far.
};

// One row of evaluation.csv. Its key is everything but accuracy and loss.
struct EvaluationRow {
  std::int64_t length = 0;
  std::int64_t samples = 0;
  std::int64_t seed = 0;
  std::string eval_dropout = "off";
  double accuracy = 0;  // Mean over batches of sum(mask correct) / sum(mask), 0 .. 1
  double loss = 0;      // Nats per output symbol, mean over samples and output symbols.
};

// What became of a run: "waiting", "training", "evaluating", "finished", "interrupted" or "failed".
struct RunStatus {
  std::string state = "waiting";
  std::int64_t step = 0;  // Updates made.
  double training_seconds = 0;
  double evaluation_seconds = 0;
  std::string error;       // Why it failed.
  std::string git_commit;  // Of the program that last worked on it.
  std::string version;     // Of the program.
  std::string torch_version;
  std::string device;  // "cpu"
  std::string host;
  std::string started;  // UTC, ISO 8601
  std::string updated;  // UTC, ISO 8601
};

// The folder results/<experiment>/runs/<run id>: config.yaml, metrics.csv, evaluation.csv,
// status.json and the trainer's checkpoints. Each file is replaced whole and atomically.
class RunFolder {
 public:
  // Opens the folder of `config` below `experiment`, or creates it. Throws Error (usage) when it
  // cannot be created or written, or holds a config whose id is not the folder's name.
  static RunFolder create(const std::filesystem::path& experiment, const RunConfig& config);
  // Throws as create() would for what is stored already, damaged files included; writes nothing.
  static void check(const std::filesystem::path& experiment, const RunConfig& config);
  // Opens an existing folder. Throws Error (usage) when a file is missing, unreadable or
  // contradicts the folder's name.
  static RunFolder open(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  std::string id() const { return path_.filename().string(); }
  const RunConfig& config() const { return config_; }

  // Empty (or a default status) where the file does not exist yet; Error names a damaged line.
  std::vector<MetricsRow> metrics() const;
  std::vector<EvaluationRow> evaluation() const;
  RunStatus status() const;

  // Throw Error (runtime) when the disk refuses.
  void write_metrics(const std::vector<MetricsRow>& rows) const;
  void write_evaluation(const std::vector<EvaluationRow>& rows) const;
  void write_status(const RunStatus& status) const;
  // Notes why the run failed, unless it is finished or has failed by itself before.
  void mark_failed(const std::string& reason) const;

 private:
  RunFolder(std::filesystem::path path, RunConfig config);

  std::filesystem::path path_;
  RunConfig config_;
};

// Throws Error (usage) when `folder` cannot be created or written.
void create_writable_folder(const std::filesystem::path& folder);

// The rows of `rows` that `config` asks for, by ascending length; nothing when one is missing.
std::optional<std::vector<EvaluationRow>> requested_rows(const std::vector<EvaluationRow>& rows,
                                                         const EvaluationConfig& config);

// Mean accuracy over the requested lengths, 0 .. 1; nothing while one is missing.
std::optional<double> score(const std::vector<EvaluationRow>& rows, const EvaluationConfig& config);

// Now, in UTC, as status.json holds it: "2026-01-31T23:59:59Z".
std::string current_utc_time();

// Every run below `experiment`/runs, sorted by id. Throws Error (usage) when the folder does not
// exist or holds no runs. An empty folder, which an interrupted start leaves, is no run.
std::vector<RunFolder> open_runs(const std::filesystem::path& experiment);

}  // namespace che
