#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/warning.h"
#include "experiments/config.h"
#include "experiments/evaluation_rows.h"
#include "experiments/metrics_row.h"
#include "experiments/run_status.h"

namespace che {

// A stored file whose content is not what was written, and what is wrong with it (naming the file). One that
// the system does not let us read is none.
struct Damage {
  std::filesystem::path file;
  std::string what;
};

// The state of a run with damaged files; never stored.
inline constexpr const char* kDamaged = "damaged";

// Everything that is stored of a run.
struct StoredRun {
  RunStatus status;  // With damage, the state is kDamaged and the error names the files.
  std::vector<MetricsRow> metrics;
  std::vector<EvaluationRow> evaluation;
  std::vector<Damage> damage;  // A damaged file counts as absent.
};

// The folder results/<experiment>/runs/<run id>: config.yaml, metrics.csv, evaluation.csv,
// status.json and the trainer's checkpoints. Each file is replaced whole and atomically, and carries a
// checksum that holds for this run alone.
class RunFolder {
 public:
  // The folder of `config` below `experiment`, whether it exists or not; writes nothing. Throws Error
  // (usage) when it holds a config whose id is not the folder's name; a damaged config.yaml is warned of.
  static RunFolder at(const std::filesystem::path& experiment, const RunConfig& config,
                      const WarningSink& warn = print_warning);
  // The same, with its config stored.
  static RunFolder create(const std::filesystem::path& experiment, const RunConfig& config);
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
  // All three. Throws Error (runtime) for a file that the system cannot read.
  StoredRun read() const;
  // Renames damaged files to *.damaged, so that the run can go on without them; warns of each.
  void set_damage_aside(const WarningSink& warn) const;
  // Renames evaluation.csv, where there is one, to *.replaced: rows of parameters that are lost must not
  // stand beside rows of others. Returns the new path.
  std::optional<std::filesystem::path> set_evaluation_aside() const;

  // Writes config.yaml where at() found another, none or a damaged one. Throws Error as
  // create_writable_folder does, and (runtime) when the disk refuses.
  void store_config() const;
  // Throw Error (runtime) when the disk refuses. Without rows there is no file.
  void write_metrics(const std::vector<MetricsRow>& rows) const;
  void write_evaluation(const std::vector<EvaluationRow>& rows) const;
  void write_status(const RunStatus& status) const;
  // Writes an event file for TensorBoard with these rows, where the config asks for one.
  void write_tensorboard(const std::vector<MetricsRow>& metrics, const std::vector<EvaluationRow>& evaluation,
                         const RunStatus& status) const;
  // Notes why the run failed, unless it is finished or has failed by itself before.
  void mark_failed(const std::string& reason) const;

 private:
  RunFolder(std::filesystem::path path, RunConfig config);
  void write_rows(const char* file, const std::vector<std::string>& columns, std::string_view rows) const;

  std::filesystem::path path_;
  RunConfig config_;
  bool config_is_stored_ = false;
};

// Throws Error with the system's reason and its fault_of when `folder` cannot be created or written.
void create_writable_folder(const std::filesystem::path& folder);

// Every run below `experiment`/runs, sorted by id; one whose config.yaml is damaged or missing is warned
// of and left out. Throws Error (usage) when the folder does not exist or no run is left, (runtime) for a
// file that the system cannot read. A folder that holds at most a lock and temporary files,
// which an interrupted start leaves, is no run.
std::vector<RunFolder> open_runs(const std::filesystem::path& experiment,
                                 const WarningSink& warn = print_warning);

}  // namespace che
