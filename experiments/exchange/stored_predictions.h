#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "experiments/exchange/predictions.h"
#include "experiments/store/run_folder.h"
#include "experiments/store/run_rows.h"

namespace che {

// The task that a header of predictions names. Throws Error (usage) for an option that it does not have.
TaskConfig task_config(const SampleHeader& header);

// The config under which results of the predictions are stored: the task, the model's name and seed, and the
// evaluation that `che run` would need for the same samples. Throws Error (usage) for what no config may
// have.
RunConfig prediction_config(const ScoredPredictions& scored);

// Scores files of predictions and, unless `experiment` is empty, stores them as finished runs of this results
// folder, new or not. Tables and figures find them there next to the runs of che. It stores none
// where two are of one run, and where a run that they replace is in use. Where it fails later, runs that were
// to be replaced have failed. Throws Error (usage) that names the file, and as create_writable_folder does.
std::vector<ScoredPredictions> score_files(const std::vector<std::string>& files,
                                           const std::filesystem::path& experiment);

// Stores one of them; the caller holds the lock of the results folder. Rows of the same model, seed and
// samples are replaced, with a warning where their accuracy differs; those of other lengths stay, as after
// `che evaluate`. Damaged files are set aside with a warning. Throws Error as RunFolder does.
RunFolder store_predictions(const std::filesystem::path& experiment, const ScoredPredictions& scored,
                            const WarningSink& warn = print_warning);

// Whether a file of a run's folder has predictions of a model outside che as `che score` received them,
// compressed: predictions-<12 hexadecimal digits>.jsonl.zst, one file for each choice of samples.
bool is_kept_predictions(std::string_view name);

// Scores the kept predictions among a run's files (content by name) again. Throws Error (usage) that names
// the file, or `place`, for predictions of another run, and for a row with another accuracy than kept
// predictions of its samples. Returns how many rows of a model outside che have no kept predictions. Adds the
// symbols of the samples to `scored_symbols`, those of a bundle so far. Throws Error where they become too
// many: small files can have predictions for hours.
std::size_t check_kept_predictions(const RunConfig& config, const std::vector<EvaluationRow>& rows,
                                   const std::map<std::string, std::string>& files, const std::string& place,
                                   double& scored_symbols);

}  // namespace che
