#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/file_lock.h"
#include "core/text.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/needs.h"

namespace che {
namespace {

int prune(const ReadRuns& read) {
  const std::string& folder = read.folder;
  const std::vector<RunFolder> runs = read.choice().of(open_runs(folder));
  const FileLock lock(folder);
  std::size_t pruned = 0;
  std::uintmax_t freed = 0;
  for (const RunFolder& run : runs) {
    if (!assess(run).is_complete()) continue;
    if (std::filesystem::is_symlink(run.path())) {
      print_warning(fmt::format("left out: '{}' is a symbolic link; prune the experiment that it leads to",
                                run.path().string()));
      continue;
    }
    const FileLock run_lock(run.path());
    const std::uintmax_t bytes = remove_checkpoints(run.path());
    pruned += bytes > 0 ? 1U : 0U;
    freed += bytes;
  }
  fmt::print("{}: deleted the checkpoints of {} of {}, {:.1f} MiB\n", folder, pruned,
             counted(runs.size(), "run"), static_cast<double>(freed) / 0x1p20);
  return 0;
}

}  // namespace

void add_prune_command(CLI::App& app, Action& action) {
  const auto runs = std::make_shared<ReadRuns>();
  CLI::App* const command = app.add_subcommand("prune", "Delete the checkpoints of finished runs");
  command->footer(
      "Scores, tables and figures stay; the models are lost: further test lengths then need `che run "
      "--retrain`, and `che evaluate` and `che bias` have nothing to work with.");
  add_read_runs(*command, *runs);
  command->callback([runs, &action] { action = [runs] { return prune(*runs); }; });
}

}  // namespace che
