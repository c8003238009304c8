#include "experiments/learn/worker.h"

#include <fmt/format.h>

#include <string>

#include "cli/computing.h"
#include "core/error.h"
#include "experiments/plan/encoding_config.h"
#include "experiments/plan/evaluation_settings.h"

namespace che {
namespace {

struct WorkerOptions {
  WorkerTask task;
  bool evaluate = false;
  std::string lengths;
  std::string evaluation_settings;
  EvaluationRequest request;
};

int work(const WorkerOptions& options) {
  WorkerTask task = options.task;
  if (options.evaluate) {
    if (task.folders.size() != 1) throw Error("--evaluate: evaluates one run; name one folder");
    task.evaluation = options.request;
    if (!options.lengths.empty()) {
      task.evaluation->lengths = parse_integer_range(options.lengths);
      if (!task.evaluation->lengths) throw Error(fmt::format("--lengths: allowed: {}", kIntegerRangeForms));
    }
    if (!options.evaluation_settings.empty()) {
      task.evaluation->evaluation_settings = parse_evaluation_settings(options.evaluation_settings);
      if (!task.evaluation->evaluation_settings) {
        throw Error("--evaluation-settings: allowed: NAME=VALUE;NAME=VALUE, sorted by name");
      }
    }
  }
  return run_worker(task);
}

}  // namespace

void fill_worker_command(CLI::App& command, Action& action) {
  const auto options = set_action(command, action, work);
  command.add_option("RUN_DIR", options->task.folders, "folders EXPERIMENT_DIR/runs/<run id>")->required();
  CLI::Option* const evaluate =
      command.add_flag("--evaluate", options->evaluate, "only evaluate the stored model of one run");
  command.add_option("--lengths", options->lengths, "at these, first:last:step")->needs(evaluate);
  command.add_option("--samples", options->request.samples, "with so many samples per length")
      ->needs(evaluate);
  command.add_option("--seed", options->request.seed, "on samples of this seed")->needs(evaluate);
  command
      .add_option("--evaluation-settings", options->evaluation_settings,
                  "with these settings of its encoding, NAME=VALUE;NAME=VALUE")
      ->needs(evaluate);
  command.add_option("--device", options->request.device, "on this device")->needs(evaluate);
  command.add_option("--parent", options->task.parent, "process that starts it; when that ends, it stops");
}

}  // namespace che
