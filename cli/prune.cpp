#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "core/text.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/needs.h"

namespace che {
namespace {

// A lock is a file, for which a full disk has no room. Then deletes the checkpoints of one finished run that
// nobody works on before it tries again; `freed` counts their bytes. Throws Error as FileLock does.
FileLock lock_full_folder(const std::filesystem::path& folder, const std::vector<RunFolder>& runs,
                          std::uintmax_t& freed) {
  try {
    return FileLock(folder);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kRuntime || FileLock::is_held(folder)) throw;
    for (const RunFolder& run : runs) {
      if (std::filesystem::is_symlink(run.path()) || FileLock::is_held(run.path())) continue;
      if (assess(run).is_complete()) freed = remove_checkpoints(run.path());
      if (freed > 0) return FileLock(folder);
    }
    throw;
  }
}

int prune(const ReadRuns& read) {
  const std::string& folder = read.folder;
  const std::vector<RunFolder> runs = read.choice().of(open_runs(folder));
  std::uintmax_t freed = 0;
  const FileLock lock = lock_full_folder(folder, runs, freed);
  std::size_t pruned = freed > 0 ? 1 : 0;
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
  CLI::App* const command = app.add_subcommand("prune", "Delete the checkpoints of finished runs");
  const auto runs = set_action(*command, action, prune);
  command->footer(
      "Scores, tables and figures stay; the models are lost: further test lengths then need `che run "
      "--retrain`, and `che evaluate` and `che bias` have nothing to work with.");
  add_read_runs(*command, *runs);
}

}  // namespace che
