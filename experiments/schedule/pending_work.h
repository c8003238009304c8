#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "core/file_lock.h"
#include "experiments/schedule/submission.h"
#include "experiments/schedule/worker_process.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/run_folder.h"

namespace che {

// The work that is left in an experiment's folder, which is locked for this process.
struct PendingWork {
  FileLock lock;
  std::vector<std::vector<RunFolder>> jobs;  // In the order in which they are started.
  std::vector<RunConfig> configs;            // The configs of the jobs' runs.
  std::size_t complete = 0;                  // Runs with nothing left to do.
  std::size_t trained = 0;                   // Runs of the jobs that only lack test lengths.
  std::size_t left_out = 0;                  // Runs that cannot be evaluated; each is warned of.
  std::vector<std::string> notes = {};       // Lines about several runs, to be shown before work begins.
  PassedSteps to_begin_again = {};           // --retrain trains these runs of the jobs anew.

  std::size_t runs() const { return configs.size() + complete + left_out; }
};

// Prepares `che run` of `runs` below `experiment`: creates the folder and stores the configs, after it has
// looked at every run. Throws Error (usage) where nobody has chosen the replicas of a run (kAutoReplicas).
//
// To train a run again replaces results, and needs `retrain`. Without it, runs that lack test lengths and
// whose model is lost are an Error (usage). With it, runs that have passed a step of evaluation.at_steps
// without being measured are to begin again, for which begin_again() must be called.
PendingWork prepare_training(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment,
                             bool retrain);

// Makes runs of `experiment` begin at step 0, or where shorter runs end, that have passed one of their steps
// in `passed` without being measured; the others stay as they are. Each keeps its config, and its rows in
// *.replaced; its model is deleted. Throws Error (usage) while another process works on one.
void begin_again(const std::filesystem::path& experiment, const PassedSteps& passed);

// Throws Error (usage) unless `lost` is empty: the ids of trained runs that lack test lengths and whose model
// is lost.
void check_models_stored(const std::vector<std::string>& lost);

// Prepares `che evaluate`, after which every finished run among the chosen ones of `experiment` has the rows
// of `request`. Runs that are damaged or not finished are left out.
PendingWork prepare_evaluation(const std::filesystem::path& experiment, const EvaluationRequest& request,
                               const RunChoice& choice = {}, const WarningSink& warn = print_warning);

}  // namespace che
