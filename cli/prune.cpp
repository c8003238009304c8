#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "core/atomic_file.h"
#include "core/counted.h"
#include "core/file_lock.h"
#include "experiments/checkpoint.h"
#include "experiments/job_list.h"

namespace che {
namespace {

int prune(const std::string& folder) {
  const std::vector<RunFolder> runs = open_runs(folder);
  const FileLock lock(std::filesystem::path(folder) / "lock");
  std::size_t pruned = 0;
  std::uintmax_t freed = 0;
  for (const RunFolder& run : runs) {
    if (!is_complete(run.read(), run.config())) continue;
    const FileLock run_lock(run.path() / "lock");
    remove_temporary_files(run.path());
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
  const auto folder = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand(
      "prune",
      "Delete the checkpoints of finished runs. Scores, tables and figures stay; what is lost is the model: "
      "further test lengths or samples then need che run --retrain; che evaluate and che bias have nothing "
      "to work with");
  command->add_option("folder", *folder, "results folder, as written by che run")->required();
  command->callback([folder, &action] { action = [folder] { return prune(*folder); }; });
}

}  // namespace che
