#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/run_config.h"
#include "experiments/store/run_rows.h"

namespace che {

// The state of a run with damaged files, and the ending of such files once they are set aside.
inline constexpr const char* kDamaged = "damaged";

// The TensorBoard event file of a run.
inline constexpr const char* kEventsFile = "events.out.tfevents.che";

// A stored file whose content has changed, or that is not a regular file. A file that the system does not let
// us read is not damaged.
struct Damage {
  std::filesystem::path file;
  std::string what;  // Names the file and says what is wrong.
};

// Renames a file to `file`.`ending`, .2, .3 ... on behalf of the holder of the lock of `locked`, and returns
// the new path. Readers move nothing. `che run` moves a damaged config.yaml while it holds the lock of the
// experiment. Who holds the lock of a run, its worker or `che evaluate`, moves the run's other files. Throws
// Error (runtime) when nobody holds that lock or the system refuses.
std::filesystem::path set_aside_locked(const std::filesystem::path& file, const char* ending,
                                       const std::filesystem::path& locked);

// Renames a damaged file in this way, and returns a warning with its new name.
std::string set_damage_aside(const Damage& damage, const std::filesystem::path& locked);

// The content of a run's text files. Each carries a checksum keyed by the run's id, so that a file of another
// run is recognised, too. Readers throw Error (usage) that names `file`, the problem and the remedy.

// config.yaml as it is stored: the settings and, in the last line, the checksum, which guards those settings
// that the id does not cover.
std::string stored_config_text(const RunConfig& config);

struct StoredConfig {
  RunConfig config;
  std::string id;  // Of its run.
};

// Reads a config.yaml from the folder of the run `id`, though it may belong to another run. Checksums without
// key, which versions before 0.2 wrote, are accepted.
StoredConfig parse_stored_config(std::string_view text, std::string_view id, const std::string& file);

// metrics.csv. Empty without rows.
std::string metrics_text(const std::vector<MetricsRow>& rows, std::string_view id);
std::vector<MetricsRow> parse_metrics(std::string_view text, std::string_view id, const std::string& file);

// evaluation.csv. Empty without rows.
std::string evaluation_text(const std::vector<EvaluationRow>& rows, std::string_view id);
std::vector<EvaluationRow> parse_evaluation(std::string_view text, std::string_view id,
                                            const std::string& file);

// Throws Error (usage) for a row at a length that no config can ask for: strangers' rows must not cost hours.
void check_lengths(const std::vector<EvaluationRow>& rows, bool of_text, const std::string& file,
                   std::string_view remedy);

// windows.csv: the windows of these rows. Empty where no row has any.
std::string windows_text(const std::vector<EvaluationRow>& rows, std::string_view id);
// Returns rows that have a key and windows alone.
std::vector<EvaluationRow> parse_windows(std::string_view text, std::string_view id, const std::string& file);

// positions.csv: the positions of these rows. Empty where no row has any.
std::string positions_text(const std::vector<EvaluationRow>& rows, std::string_view id);
// Returns rows that have a key and positions alone.
std::vector<EvaluationRow> parse_positions(std::string_view text, std::string_view id,
                                           const std::string& file);

// evaluation_at_steps.csv. Empty without rows.
std::string at_steps_text(const StepRows& rows, std::string_view id);
StepRows parse_at_steps(std::string_view text, std::string_view id, const std::string& file);

// The remedy for each file when it is damaged.
inline constexpr std::string_view kConfigRemedy = "rerun `che run CONFIG` to rewrite it";
inline constexpr std::string_view kMetricsRemedy =
    "rerun `che run CONFIG` to continue without these rows, or delete the run's folder to train it again";
inline constexpr std::string_view kEvaluationRemedy =
    "one checksum covers all its rows, so none of them is used; rerun `che run CONFIG` to evaluate this run "
    "again, and `che evaluate` for what it had added; of a model outside che, `che score` its predictions "
    "again";
inline constexpr std::string_view kAtStepsRemedy =
    "rerun `che run CONFIG` to go on without these rows; with --retrain it trains the run again and measures "
    "them";
inline constexpr std::string_view kStatusRemedy =
    "rerun `che run CONFIG` to continue from the run's checkpoint";

}  // namespace che
