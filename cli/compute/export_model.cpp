#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>
#include <string>

#include "cli/computing.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "core/version.h"
#include "experiments/exchange/model_file.h"
#include "experiments/learn/model_factory.h"
#include "experiments/store/run_folder.h"

namespace che {
namespace {

struct ExportModelOptions {
  std::string run;
  std::string output;
};

int export_model(const ExportModelOptions& options) {
  check_output_file("--output", options.output);
  const RunFolder run = open_run(options.run);
  if (run.config().is_foreign()) {
    throw Error(fmt::format("{} has predictions of a model outside che, and no model", run.id()));
  }
  const RestoredModel restored = restore_for_reading(run);
  const ParameterSet& parameters = restored.model->parameters();
  const at::Tensor values = parameters.values()[0].contiguous();
  const std::map<std::string, std::string> metadata = {{"run", run.id()},
                                                       {"step", fmt::format("{}", restored.step)},
                                                       {"config", to_yaml(run.config())},
                                                       {"written_by", "che " + program_version()}};
  write_output(
      options.output,
      safetensors(parameters.specs(),
                  {values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())}, metadata));
  fmt::print("{}: {} in {}, of step {}\n", one_line(options.output, kWholeText),
             counted(static_cast<std::size_t>(values.numel()), "number"),
             counted(parameters.specs().size(), "tensor"), restored.step);
  return 0;
}

}  // namespace

void fill_export_model_command(CLI::App& command, Action& action) {
  const auto options = set_action(command, action, export_model);
  command.add_option("RUN_DIR", options->run, "folder EXPERIMENT_DIR/runs/<run id>")->required();
  command.add_option("-o,--output", options->output, "file to write, such as model.safetensors")->required();
}

}  // namespace che
