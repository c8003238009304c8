#pragma once

#include <filesystem>

#include "core/error.h"
#include "experiments/exchange/predictions.h"
#include "experiments/store/run_folder.h"

namespace che {

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
