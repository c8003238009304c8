#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/plan/run_config.h"
#include "experiments/store/run_files.h"
#include "experiments/store/run_rows.h"
#include "experiments/store/run_status.h"

namespace che {

// The most that a file of rows may have, as it is in memory at once; a bundle's files of one run have as much
// together.
inline constexpr std::size_t kMaxRowBytes = std::size_t{256} << 20;

// Everything that is stored of a run.
struct StoredRun {
  RunStatus status;
  std::vector<MetricsRow> metrics;
  std::vector<EvaluationRow> evaluation;
  StepRows at_steps = {};
  bool has_predictions = false;  // Whether the predictions that its config asks for are stored.
  std::vector<Damage> damage;    // A damaged file counts as absent.

  // Says what is wrong with the damaged files; empty without damage.
  std::string damage_text() const;
  // Whether a model of che has an evaluation, but neither status nor metrics of its last step: a copy of an
  // interrupted run was put over a finished one, or somebody else wrote the rows.
  bool is_mixed(const RunConfig& config) const;
};

// Why a folder cannot be opened as a run.
enum class RunProblem : std::uint8_t { kDamagedConfig, kWrongName, kNoAccess };

// "damaged", "misnamed" or "unreadable".
std::string problem_name(RunProblem problem);

struct InspectedRun;

// The folder results/<experiment>/runs/<run id>: config.yaml, status.json, metrics.csv, evaluation.csv,
// evaluation_at_steps.csv and the trainer's checkpoints. Runs on texts have windows.csv and positions.csv,
// and runs that keep their predictions have these. Each file is replaced whole and atomically, and carries a
// checksum that holds for this run only. Folders may be symbolic links; a file that is one is damaged
// (core/files.h says why).
class RunFolder {
 public:
  // Returns the folder of `config` below `experiment`, whether it exists or not; writes nothing. Warns of a
  // config.yaml that is damaged or belongs to another run. Throws Error (runtime) when we may not read it.
  static RunFolder at(const std::filesystem::path& experiment, const RunConfig& config,
                      const WarningSink& warn = print_warning);
  // Stores the config, too.
  static RunFolder create(const std::filesystem::path& experiment, const RunConfig& config);
  // Opens an existing folder. Throws Error that says why it is not a run: (runtime) when the system refuses,
  // else (usage).
  static RunFolder open(const std::filesystem::path& folder);
  // Opens it without an exception.
  static InspectedRun inspect(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path experiment() const { return path_.parent_path().parent_path(); }
  std::string id() const { return path_.filename().string(); }
  const RunConfig& config() const { return config_; }

  // Empty (or a default status) where the file does not exist yet; Error names a damaged line.
  std::vector<MetricsRow> metrics() const;
  std::vector<EvaluationRow> evaluation() const;
  StepRows at_steps() const;
  RunStatus status() const;
  // Reads all files. Throws Error (runtime) for one that the system cannot read.
  StoredRun read() const;

  // For the holder of the run's lock (see set_aside_locked): renames damaged files to *.damaged, so that the
  // run can continue without them, and warns of each. Returns the content of the others.
  StoredRun set_damage_aside(const WarningSink& warn) const;
  // For the holder of the run's lock, when the trained model is lost: its rows must not stand next to rows of
  // another. Where there is an evaluation.csv, renames it, its parts and evaluation_at_steps.csv to
  // *.replaced. Removes the predictions. Returns the new path of evaluation.csv.
  std::optional<std::filesystem::path> set_evaluation_aside() const;
  // Renames metrics.csv where it is there; returns its new path.
  std::optional<std::filesystem::path> set_metrics_aside() const;
  // Renames evaluation_at_steps.csv alone.
  void set_at_steps_aside() const;

  // Writes config.yaml unless it is there as it should be; sets a damaged one aside. The caller holds the
  // experiment's lock. Throws Error as create_writable_folder does, and (runtime) when the disk refuses.
  void store_config() const;
  // Takes over the stored config's execution and log.tensorboard, which computed the results.
  void keep_execution();
  // Throw Error (runtime) when the disk refuses. Without rows there is no file.
  void write_metrics(const std::vector<MetricsRow>& rows) const;
  void write_evaluation(const std::vector<EvaluationRow>& rows) const;
  void write_at_steps(const StepRows& rows) const;
  void write_status(const RunStatus& status) const;
  // Notes why the run failed, unless it is finished or has failed by itself before.
  void mark_failed(const std::string& reason) const;

 private:
  RunFolder(std::filesystem::path path, RunConfig config);
  // Those of evaluation.csv alone, of windows.csv and of positions.csv.
  std::vector<EvaluationRow> rows() const;
  std::vector<EvaluationRow> windows() const;
  std::vector<EvaluationRow> positions() const;
  void write_rows(const char* file, const std::string& text) const;
  std::optional<std::filesystem::path> set_rows_aside(const char* file) const;

  std::filesystem::path path_;
  RunConfig config_;
  bool config_is_stored_ = false;
  bool execution_alone_differs_ = false;  // log.tensorboard may differ, too.
  std::optional<ExecutionConfig> stored_execution_;
  bool stored_tensorboard_ = false;
  bool config_is_damaged_ = false;
};

// A run, or why a folder is none.
struct InspectedRun {
  std::optional<RunFolder> run;
  RunProblem problem = RunProblem::kDamagedConfig;
  std::string text;  // Says what is wrong, where, and what to do.
};

// Throws Error with the system's reason and its error_kind_of when `folder` cannot be created or written.
void create_writable_folder(const std::filesystem::path& folder);

}  // namespace che
