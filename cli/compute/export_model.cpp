#include <ATen/ATen.h>
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/computing.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "core/version.h"
#include "experiments/learn/model_factory.h"
#include "experiments/store/run_folder.h"
#include "models/parameters/parameter_set.h"

namespace che {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

// The parameters of a model as a file of the format safetensors
// (https://github.com/huggingface/safetensors), which PyTorch, JAX and others read: the size of a JSON
// header, the header with name, type (F32), shape and place of each tensor, and the numbers. `values` has
// those of `specs`, one after the other. `metadata` is text by name. Equal arguments give equal bytes.
std::string safetensors(const std::vector<ParameterSpec>& specs, std::span<const float> values,
                        const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header;
  header["__metadata__"] = metadata;
  std::int64_t offset = 0;  // Bytes.
  for (const ParameterSpec& spec : specs) {
    const std::int64_t end = offset + parameter_count({spec}) * static_cast<std::int64_t>(sizeof(float));
    header[spec.name] = {{"dtype", "F32"}, {"shape", spec.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // So that the numbers are aligned.
  const auto size = static_cast<std::uint64_t>(text.size());
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += text;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return bytes;
}

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
