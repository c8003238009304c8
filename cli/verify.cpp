#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "experiments/exchange/bundle.h"

namespace che {
namespace {

int verify(const std::vector<std::string>& files) {
  bool are_complete = true;
  for (const std::string& file : files) {
    const BundleSummary summary = verify_bundle(file);
    fmt::print("{}verified     every byte is as it was written\n", describe(summary, file));
    are_complete = are_complete && summary.is_complete();
  }
  return are_complete ? 0 : 1;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* const command =
      app.add_subcommand("verify", "Check every byte of bundles, and say what they hold");
  command->footer(
      "Nothing is unpacked. Exit code 2 for a bundle that is damaged or holds anything that `che bundle` "
      "does "
      "not write, which is named; 1 for a whole one in which some run has no score.");
  command->add_option("BUNDLE", *files, "files that `che bundle` wrote")->required();
  command->callback([files, &action] { action = [files] { return verify(*files); }; });
}

}  // namespace che
