#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "core/file_lock.h"
#include "experiments/schedule/worker_process.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/run_folder.h"

namespace che {

// What is left to do in an experiment's folder, which is locked for this process.
struct PendingWork {
  FileLock lock;
  std::vector<std::vector<RunFolder>> jobs;  // In the order in which they are started.
  std::vector<RunConfig> configs;            // Of the jobs' runs.
  std::size_t complete = 0;                  // Runs with nothing left to do.
  std::size_t trained = 0;                   // Of the jobs' runs those that only lack test lengths.
  std::size_t left_out = 0;                  // Runs that cannot be evaluated; each is warned of.
  std::vector<std::string> notes = {};       // Lines about several runs, to be shown before work begins.

  std::size_t runs() const { return configs.size() + complete + left_out; }
};

// What `che run` has to do so that `runs` are trained and evaluated below `experiment`, which it creates;
// stores their configs. Every run is looked at before anything is written. Throws Error (usage) where nobody
// has chosen the replicas of a run (kAutoReplicas). Without `retrain` it throws Error
// (usage) for runs that lack test lengths and whose model is lost: to train them again replaces results. With
// `retrain`, runs that have passed a step of evaluation.at_steps without being measured are made to begin
// again.
PendingWork prepare_training(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment,
                             bool retrain);

// Throws Error (usage) where there are trained runs, by id, that lack test lengths and whose model is lost.
void check_models_stored(const std::vector<std::string>& lost);

// What `che evaluate` has to do so that every finished run among the chosen ones of `experiment` has the rows
// of `request`. Runs that are not finished, or damaged, are left out.
PendingWork prepare_evaluation(const std::filesystem::path& experiment, const EvaluationRequest& request,
                               const RunChoice& choice = {}, const WarningSink& warn = print_warning);

}  // namespace che
