#pragma once

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

// Everything that is stored of a run.
struct StoredRun {
  RunStatus status;
  std::vector<MetricsRow> metrics;
  std::vector<EvaluationRow> evaluation;
  StepRows at_steps = {};
  bool has_predictions = false;  // Whether the predictions that its config asks for are stored.
  std::vector<Damage> damage;    // A damaged file counts as absent.

  // What is wrong with the damaged files; empty without damage.
  std::string damage_text() const;
};

// Why a folder cannot be opened as a run.
enum class RunProblem : std::uint8_t { kDamagedConfig, kWrongName, kNoAccess };

// "damaged", "misnamed" or "unreadable".
std::string problem_name(RunProblem problem);

struct InspectedRun;

// The folder results/<experiment>/runs/<run id>: config.yaml, metrics.csv, evaluation.csv,
// evaluation_at_steps.csv, status.json and the trainer's checkpoints. Each file is replaced whole and
// atomically, and carries a checksum that holds for this run only. Folders may be symbolic links; a file that
// is one is damaged (core/files.h says why).
class RunFolder {
 public:
  // The folder of `config` below `experiment`, whether it exists or not; writes nothing. A config.yaml that
  // is damaged or belongs to another run is warned of. Throws Error (runtime) when the system does not let us
  // read it.
  static RunFolder at(const std::filesystem::path& experiment, const RunConfig& config,
                      const WarningSink& warn = print_warning);
  // The same, with its config stored.
  static RunFolder create(const std::filesystem::path& experiment, const RunConfig& config);
  // Opens an existing folder. Throws Error that says why it is not a run: (runtime) when the system refuses,
  // else (usage).
  static RunFolder open(const std::filesystem::path& folder);
  // The same without an exception.
  static InspectedRun inspect(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  std::string id() const { return path_.filename().string(); }
  const RunConfig& config() const { return config_; }

  // Empty (or a default status) where the file does not exist yet; Error names a damaged line.
  std::vector<MetricsRow> metrics() const;
  std::vector<EvaluationRow> evaluation() const;
  StepRows at_steps() const;
  RunStatus status() const;
  // All four. Throws Error (runtime) for a file that the system cannot read.
  StoredRun read() const;

  // For the holder of the run's lock (experiments/store/damage.h): renames damaged files to *.damaged, so
  // that the run can continue without them; warns of each. Returns what is stored without them.
  StoredRun set_damage_aside(const WarningSink& warn) const;
  // For the same: renames evaluation.csv, where there is one, to *.replaced: rows of parameters that are lost
  // must not stand next to rows of others. Removes its predictions. Returns the new path.
  std::optional<std::filesystem::path> set_evaluation_aside() const;

  // Writes config.yaml where at() found another, none or a damaged one, which is set aside. The caller holds
  // the experiment's lock. Throws Error as create_writable_folder does, and (runtime) when the disk refuses.
  void store_config() const;
  // Throw Error (runtime) when the disk refuses. Without rows there is no file.
  void write_metrics(const std::vector<MetricsRow>& rows) const;
  void write_evaluation(const std::vector<EvaluationRow>& rows) const;
  void write_at_steps(const StepRows& rows) const;
  void write_status(const RunStatus& status) const;
  // Notes why the run failed, unless it is finished or has failed by itself before.
  void mark_failed(const std::string& reason) const;

 private:
  RunFolder(std::filesystem::path path, RunConfig config);
  void write_rows(const char* file, const std::string& text) const;

  std::filesystem::path path_;
  RunConfig config_;
  bool config_is_stored_ = false;
  bool config_is_damaged_ = false;
};

// What was found in a folder: a run, or why it is none.
struct InspectedRun {
  std::optional<RunFolder> run;
  RunProblem problem = RunProblem::kDamagedConfig;
  std::string text;  // What is wrong, where, and what to do.
};

// Throws Error with the system's reason and its error_kind_of when `folder` cannot be created or written.
void create_writable_folder(const std::filesystem::path& folder);

}  // namespace che
