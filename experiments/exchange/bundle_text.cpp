#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "experiments/exchange/bundle.h"

namespace che {

std::string describe(const BundleSummary& summary, const fs::path& file) {
  std::string text = fmt::format("{}: {} of the experiment {}, {}\n", one_line(file.string(), kWholeText),
                                 counted(summary.runs, "run"), summary.name, counted(summary.files, "file"));
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fmt::format("{:<11}  {}\n", key, value);
  };
  add("sha256", summary.digits);
  add("made by", one_line(fmt::format("che {}, commit {}", summary.version, summary.git_commit)));
  std::vector<std::string> tasks;
  for (const auto& [task, version] : summary.task_versions) {
    tasks.push_back(fmt::format("{} (version {})", task, version));
  }
  add("tasks", fmt::format("{}", fmt::join(tasks, ", ")));
  std::size_t least = summary.runs;
  std::size_t most = 0;
  for (const auto& [cell, seeds] : summary.seeds) {
    least = std::min(least, seeds);
    most = std::max(most, seeds);
  }
  add("seeds", fmt::format("{} finished in each cell, of {}",
                           least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
                           counted(summary.seeds.size(), "cell")));
  if (!summary.hardware.empty()) {
    add("computed on", one_line(fmt::format("{}", fmt::join(summary.hardware, "; ")), kWholeText));
  }
  if (summary.rows_without_predictions > 0) {
    add("unchecked", fmt::format("{} of models outside che, whose predictions the bundle does not have",
                                 counted(summary.rows_without_predictions, "row")));
  }
  if (summary.is_complete()) {
    add("complete", "every run in it has a score; whether the config has more, `che run CONFIG --list` says");
    return text;
  }
  add("incomplete", fmt::format("{} without a score:", counted(summary.unfinished.size(), "run")));
  for (const auto& [run, reason] : summary.unfinished) text += fmt::format("  {}: {}\n", run, reason);
  return text;
}

}  // namespace che
