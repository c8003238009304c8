#include "experiments/training/worker.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/commands.h"
#include "core/error.h"

namespace che {
namespace {

struct WorkerOptions {
  WorkerTask task;
  std::string lengths;
  std::int64_t samples = 0;
};

int work(const WorkerOptions& options) {
  WorkerTask task = options.task;
  if (!options.lengths.empty()) {
    const auto lengths = parse_integer_range(options.lengths);
    if (!lengths) throw Error(fmt::format("--lengths: allowed: {}", kIntegerRangeForms));
    if (task.folders.size() != 1) throw Error("--lengths: evaluates one run; name one folder");
    task.evaluation = EvaluationRequest{.lengths = *lengths, .samples = options.samples};
  }
  return run_worker(task);
}

}  // namespace

void add_worker_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "worker", "Work on one job: runs that differ only in seed and learning rate (started by `run`)");
  const auto options = std::make_shared<WorkerOptions>();
  command->add_option("RUN_DIR", options->task.folders, "folders EXPERIMENT_DIR/runs/<run id>")->required();
  CLI::Option* const lengths = command->add_option(
      "--lengths", options->lengths, "only evaluate the stored model of one run at these, first:last:step");
  CLI::Option* const samples =
      command->add_option("--samples", options->samples, "samples per length for --lengths");
  lengths->needs(samples);
  samples->needs(lengths);
  command->add_option("--parent", options->task.parent, "process that starts it; when that ends, it stops");
  command->callback([options, &action] { action = [options] { return work(*options); }; });
}

}  // namespace che
