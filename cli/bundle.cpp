#include "experiments/exchange/bundle.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/commands.h"
#include "core/error.h"
#include "core/text.h"

namespace che {
namespace {

struct BundleOptions {
  std::string experiment;
  std::string output;
};

int bundle(const BundleOptions& options) {
  constexpr std::string_view kEnding = ".tar.zst";
  if (!options.output.ends_with(kEnding)) {
    throw Error(
        fmt::format("--output {}: allowed: a file NAME{}", one_line(options.output, kWholeText), kEnding));
  }
  fmt::print("{}", describe(write_bundle(options.experiment, options.output), options.output));
  return 0;
}

}  // namespace

void add_bundle_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "bundle", "Write an experiment without its checkpoints into one file, to publish it");
  const auto options = set_action(*command, action, bundle);
  command->footer(
      "The file has configs, scores by length, metrics and states of all runs, and the SHA-256 of each file. "
      "The same results give the same bytes. `che verify` checks it; `tar xf` unpacks it into a results "
      "folder.");
  command->add_option("EXPERIMENT_DIR", options->experiment, "folder that `che run` or `che score` wrote")
      ->required();
  command->add_option("-o,--output", options->output, "NAME.tar.zst")->required();
}

}  // namespace che
