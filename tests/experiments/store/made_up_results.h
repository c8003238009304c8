#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/store/experiment_folder.h"
#include "experiments/store/run_folder.h"
#include "tasks/declared/task_definition.h"

namespace che {

// A small run that its test may change.
inline RunConfig made_up_config(const std::string& task, const std::string& encoding, std::int64_t seed = 0) {
  RunConfig config;
  config.task.reset(task);
  config.encoding.reset(encoding);
  config.seed = seed;
  config.training.steps = 1000;
  config.model.shape().width = 64;
  config.evaluation.last_length = 44;
  config.evaluation.samples = 64;
  return config;
}

// A small run on a task that a definition declares, with `more` lines in it: whether no two a's are
// neighbours.
inline RunConfig made_up_declared_config(const std::string& more) {
  RunConfig config = made_up_config("even_pairs", "rope");
  config.task = TaskConfig();
  config.task.definition =
      parse_task_definition(
          "name: no_two\nsymbols: [a, b]\nanswer: accept\nautomaton: \"0 1 a\\n0 0 b\\n1 0 b\\n0\\n1\\n\"\n" +
              more,
          "definition")
          .canonical();
  config.task.name = "no_two";
  config.training.first_length = 2;
  return config;
}

// Stores `config` in a state; a finished run has the same accuracy at every test length and has reached
// `training_accuracy` at its training lengths.
inline RunFolder store_run(const std::filesystem::path& experiment, const RunConfig& config, RunState state,
                           double accuracy = 0, double training_accuracy = 0.9375) {
  const RunFolder folder = RunFolder::create(experiment, config);
  if (state == RunState::kFinished) {
    std::vector<EvaluationRow> rows;
    for (const std::int64_t length : config.evaluation.lengths()) {
      rows.push_back({.length = length,
                      .samples = config.evaluation.samples,
                      .seed = config.evaluation.seed,
                      .eval_dropout = config.evaluation.eval_dropout,
                      .accuracy = accuracy,
                      .loss = 0.5});
    }
    folder.write_evaluation(rows);
  }
  folder.write_metrics({{.step = 100, .loss = 1.5, .accuracy = 0.25, .gradient_norm = 1, .seconds = 1},
                        {.step = state == RunState::kFinished ? config.training.steps : 200,
                         .loss = 0.75,
                         .accuracy = state == RunState::kFinished ? training_accuracy : 0.5,
                         .gradient_norm = 1,
                         .seconds = 2}});
  RunStatus status;
  status.state = state;
  status.step = state == RunState::kFinished ? config.training.steps : 200;
  status.training_seconds = 2.5;
  status.evaluation_seconds = 0.25;
  if (state == RunState::kFailed) status.error = "loss is not finite at step 200, \"nan\" | stop";
  status.git_commit = "0123abc";
  status.version = "0.1.0";
  status.device = "cpu";
  status.updated = "2026-01-31T23:59:59Z";
  folder.write_status(status);
  return folder;
}

// Two finished runs of bucket_sort and rope that were evaluated on different samples.
inline void store_two_evaluations(const std::filesystem::path& experiment) {
  store_run(experiment, made_up_config("bucket_sort", "rope"), RunState::kFinished, 0.5);
  RunConfig longer = made_up_config("bucket_sort", "rope", 1);
  longer.evaluation.last_length = 60;
  store_run(experiment, longer, RunState::kFinished, 0.75);
}

// Puts a file into the folder that counts as a checkpoint: the step is the status's.
inline void put_checkpoint(const RunFolder& run) { std::ofstream(run.path() / "checkpoint.bin") << "model"; }

}  // namespace che
