#include <fmt/core.h>

#include <filesystem>
#include <optional>
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
  } catch (const NoRoom&) {
    if (FileLock::is_held(folder)) throw;
    for (const RunFolder& run : runs) {
      if (std::filesystem::is_symlink(run.path()) || FileLock::is_held(run.path())) continue;
      if (assess(run).is_complete()) freed = remove_checkpoints(run.path());
      if (freed == 0) continue;
      print_warning(
          fmt::format("deleted the checkpoints of {} first, because there was no room for a lock", run.id()));
      return FileLock(folder);
    }
    throw;
  }
}

struct PruneOptions {
  ReadRuns runs;
  bool dry_run = false;
};

int prune(const PruneOptions& options) {
  const std::string& folder = options.runs.folder;
  const std::filesystem::path runs_folder = std::filesystem::path(folder) / "runs";
  if (std::filesystem::is_symlink(runs_folder)) {
    throw Error(
        fmt::format("'{}' is a symbolic link; prune the experiment that it leads to", runs_folder.string()));
  }
  const auto read = [&](const WarningSink& warn) {
    return options.runs.choice().of(open_runs(folder, warn), warn);
  };
  std::vector<RunFolder> runs = read(print_warning);
  std::uintmax_t freed = 0;
  std::optional<FileLock> lock;
  if (!options.dry_run) {
    lock = lock_full_folder(folder, runs, freed);
    runs = read([](const std::string&) {});  // Before the lock, others may have asked for more.
  }
  std::size_t pruned = freed > 0 ? 1 : 0;
  for (const RunFolder& run : runs) {
    if (!assess(run).is_complete()) continue;
    if (std::filesystem::is_symlink(run.path())) {
      print_warning(fmt::format("left out: '{}' is a symbolic link; prune the experiment that it leads to",
                                run.path().string()));
      continue;
    }
    LockRefusal refusal;
    std::optional<FileLock> run_lock;
    if (!options.dry_run) run_lock = FileLock::try_hold(run.path(), refusal);
    if (!options.dry_run && !run_lock) {
      print_warning("left out: " + refusal.text);
      continue;
    }
    const std::uintmax_t bytes = remove_checkpoints(run.path(), options.dry_run);
    pruned += bytes > 0 ? 1U : 0U;
    freed += bytes;
  }
  fmt::print("{}: {} the checkpoints of {} of {}, {:.1f} MiB\n", one_line(folder, kWholeText),
             options.dry_run ? "would delete" : "deleted", pruned, counted(runs.size(), "run"),
             static_cast<double>(freed) / 0x1p20);
  return 0;
}

}  // namespace

void add_prune_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("prune", "Delete the checkpoints of finished runs");
  const auto options = set_action(*command, action, prune);
  command->footer(
      "Scores, tables and figures stay; the models are lost: further test lengths then need `che run "
      "--retrain`, and `che evaluate` and `che bias` have nothing to work with.");
  add_read_runs(*command, options->runs);
  command->add_flag("--dry-run", options->dry_run, "say what it would delete; delete nothing");
}

}  // namespace che
