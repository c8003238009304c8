#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/exchange/sample_file.h"
#include "experiments/store/run_folder.h"
#include "experiments/store/run_rows.h"

namespace che {

// The predictions of a model for one task, scored.
struct ScoredPredictions {
  SampleHeader header;
  std::string model;                // Its name in tables.
  std::int64_t seed = 0;            // The model's: repetitions differ in it.
  std::vector<EvaluationRow> rows;  // One per length; the loss is not a number.
};

// Reads a file of predictions and compares it with the test samples that its header names:
//   {"format":"che-predictions/1","model":"lstm","model_seed":0,"task":...,"options":{},"suite":...,"lengths":[...],
//    "samples":512,"seed":0}
//   {"length":41,"index":0,"output":[...]}
// Samples are in the order of the samples' file: by length, then index. Accuracy is that of che's own
// evaluation: per batch of 64 the fraction of the symbols that count, averaged over the batches. Throws Error
// (usage) that names line and field for anything else: another order, a missing or surplus sample, a wrong
// number of symbols, a symbol that the task does not have.
ScoredPredictions score_predictions(const std::filesystem::path& file);

// The config under which results of the predictions are stored: the task, the model's name and seed, and the
// evaluation that `che run` would need for the same samples. Throws Error (usage) for what no config may
// have.
RunConfig prediction_config(const ScoredPredictions& scored);

// Stores the scored predictions as a finished run of the results folder `experiment`, whose lock the caller
// holds, where tables and figures find them next to the runs of che. Rows of the same model, seed and samples
// are replaced, with a warning where their accuracy differs; those of other lengths stay, as after
// `che evaluate`. Damaged files are set aside with a warning. Throws Error as RunFolder does.
RunFolder store_predictions(const std::filesystem::path& experiment, const ScoredPredictions& scored,
                            const WarningSink& warn = print_warning);

}  // namespace che
