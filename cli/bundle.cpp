#include "experiments/exchange/bundle.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/text.h"
#include "experiments/published/quoted_scores.h"

namespace che {
namespace {

struct BundleOptions {
  std::string experiment;
  std::string output;
};

int bundle(const BundleOptions& options) {
  constexpr std::string_view kEnding = ".tar.zst";
  const std::string name = std::filesystem::path(options.output).filename().string();
  if (name.size() <= kEnding.size() || !name.ends_with(kEnding)) {
    throw Error(
        fmt::format("--output {}: allowed: a file NAME{}", one_line(options.output, kWholeText), kEnding));
  }
  check_output_file("--output", options.output);
  fmt::print("{}", describe(write_bundle(options.experiment, options.output), options.output));
  if (std::filesystem::exists(std::filesystem::path(options.experiment) / kQuotedFile)) {
    print_warning(
        fmt::format("{} is not in the bundle, which holds runs alone; hand it on beside it", kQuotedFile));
  }
  return 0;
}

struct UnpackOptions {
  std::string file;
  std::string output;
};

int unpack(const UnpackOptions& options) {
  const BundleSummary summary = unpack_bundle(options.file, options.output);
  fmt::print("{}unpacked     into {}\n", describe(summary, options.file),
             one_line(options.output, kWholeText));
  return 0;
}

}  // namespace

void add_bundle_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "bundle", "Write an experiment without its checkpoints into one file, to publish it");
  const auto options = set_action(*command, action, bundle);
  command->footer(
      "The file has configs, scores by length, metrics and states of all runs, and the SHA-256 of each file. "
      "The same results give the same bytes. `che verify` checks it; `che unpack` makes a results folder of "
      "it.");
  command->add_option("EXPERIMENT_DIR", options->experiment, "folder that `che run` or `che score` wrote")
      ->required();
  command->add_option("-o,--output", options->output, "NAME.tar.zst")->required();
}

void add_unpack_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("unpack", "Make a results folder of a bundle that is whole");
  const auto options = set_action(*command, action, unpack);
  command->footer(
      "Checks the bundle as `che verify` does. The folder must not exist: nothing is overwritten, and it has "
      "all its files or does not appear.");
  command->add_option("BUNDLE", options->file, "file that `che bundle` wrote")->required();
  command->add_option("-o,--output", options->output, "results folder to make")->required();
}

}  // namespace che
