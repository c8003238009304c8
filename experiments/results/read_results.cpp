#include "experiments/results/read_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/config/field_list.h"
#include "core/error.h"
#include "core/text.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_filter.h"
#include "experiments/plan/run_workload.h"
#include "experiments/results/columns.h"
#include "experiments/store/experiment_folder.h"

namespace che {
namespace {

// Also names "." and "quick/".
std::string folder_name(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) {
    throw Error(fmt::format("'{}' is no folder; name a results folder, or one with a {}", folder.string(),
                            kQuotedFile));
  }
  return std::filesystem::canonical(folder).filename().string();
}

// The runs of all folders, and why others were left out.
struct FoundRuns {
  std::vector<RunFolder> runs;
  RunOrigins origins;
  std::vector<std::string> left_out;

  void add(RunFolder run, std::size_t folder) {
    origins.folder_of[run.path()] = folder;
    runs.push_back(std::move(run));
  }
  void leave_out(std::string reason) {
    print_warning("left out: " + reason);
    left_out.push_back(std::move(reason));
  }
};

// Two copies of a run are compared by these.
struct Copy {
  std::optional<std::string> score;  // A run has none where it does not count in tables.
  std::vector<std::string> metrics;  // A row is the mean since the row before.
  std::set<std::string> rows;        // These are of evaluations.

  explicit Copy(const RunFolder& run) {
    const StoredRun stored = run.read();
    const auto add = [&](const EvaluationRow& row, std::int64_t step) {
      rows.merge(
          std::set{at_steps_text({{step, {row}}}, ""), windows_text({row}, ""), positions_text({row}, "")});
    };
    for (MetricsRow row : stored.metrics) {
      row.seconds = 0;
      metrics.push_back(metrics_text({row}, ""));
    }
    for (const EvaluationRow& row : stored.evaluation) add(row, run.config().training.steps);
    for (const auto& [step, of_step] : stored.at_steps) {
      for (const EvaluationRow& row : of_step) add(row, step);
    }
    if (stored.status.state != RunState::kFinished || !stored.damage.empty()) return;
    const Metric metric = create_workload(run.config())->metric();
    const auto value = che::score(stored.evaluation, run.config(), metric);
    if (value) score = fmt::format("{}{}", metric.format(*value), metric.unit());
  }

  // The metrics of a finished run are the same or lost: one more row would change what its neighbours mean.
  bool has_all_of(const Copy& other) const {
    const bool has_metrics = other.score && !other.metrics.empty()
                                 ? metrics == other.metrics
                                 : std::ranges::mismatch(other.metrics, metrics).in1 == other.metrics.end();
    return has_metrics && std::ranges::includes(rows, other.rows);
  }
  std::size_t size() const { return metrics.size() + rows.size(); }
};

// Copies of runs that do not count because another folder has the same scores, with more rows or not.
struct LeftCopies {
  std::size_t folder;
  std::size_t counting;  // The folder whose copies count.
  bool has_fewer_rows;
  auto operator<=>(const LeftCopies&) const = default;

  std::string text(const std::vector<std::filesystem::path>& paths,
                   const std::vector<std::filesystem::path>& folders) const {
    const std::string other = folders[counting].string();
    const std::string more = has_fewer_rows ? " and more rows" : "";
    if (paths.size() > 1) {
      return fmt::format("{}: {} runs are in {} too, with the same results{}, and those count",
                         folders[folder].string(), paths.size(), other, more);
    }
    return fmt::format("{}: the same run is in {}, with the same results{}, and that one counts",
                       paths.front().string(), other, more);
  }
};

// Adds the runs of folders[i]. Of a run that a folder before it holds, the copy with a score counts, of two
// with a score the one that has all rows of the other, and else the first.
void add_experiment(FoundRuns& found, const std::vector<std::filesystem::path>& folders, std::size_t i) {
  std::map<std::string, RunFolder*> known;
  for (RunFolder& run : found.runs) known.emplace(run.id(), &run);
  std::map<LeftCopies, std::vector<std::filesystem::path>> same;
  std::vector<RunFolder> added;
  const auto leave_out_other = [&](const RunFolder& run, const Copy& copy, std::size_t counting,
                                   const Copy& counted) {
    const std::string difference = copy.score == counted.score
                                       ? "their rows differ"
                                       : fmt::format("scores: {} here, {} there", copy.score.value_or("none"),
                                                     counted.score.value_or("none"));
    found.leave_out(fmt::format("{}: the same run is in {}, and that one counts; {}", run.path().string(),
                                folders[counting].string(), difference));
  };
  for (RunFolder& run : open_runs(folders[i], print_warning, &found.left_out)) {
    const auto first = known.find(run.id());
    if (first == known.end()) {
      added.push_back(std::move(run));
      continue;
    }
    RunFolder& earlier = *first->second;
    const std::size_t folder = found.origins.folder_of.at(earlier.path());
    const Copy here(run);
    const Copy there(earlier);
    const bool is_new_score = here.score && !there.score;
    const bool has_more = here.has_all_of(there) && here.size() > there.size();
    if (is_new_score || (here.score && has_more)) {
      if (is_new_score) {
        found.leave_out(fmt::format("{}: has no score that counts; the same run in {} does",
                                    earlier.path().string(), folders[i].string()));
      } else if (here.score == there.score) {
        same[{folder, i, true}].push_back(earlier.path());
      } else {
        leave_out_other(earlier, there, i, here);
      }
      found.origins.folder_of[run.path()] = i;
      earlier = std::move(run);
    } else if (here.score == there.score && there.has_all_of(here)) {
      same[{i, folder, there.size() > here.size()}].push_back(run.path());
    } else {
      leave_out_other(run, here, folder, there);
    }
  }
  for (RunFolder& run : added) found.add(std::move(run), i);
  for (const auto& [copies, paths] : same) found.leave_out(copies.text(paths, folders));
}

// Adds all runs of folders[i], which may have none.
void add_entry(FoundRuns& found, const std::vector<std::filesystem::path>& folders, std::size_t i,
               bool quotes) {
  const std::string name = folder_name(folders[i]);
  if (std::ranges::count(found.origins.entries, name) > 0) {
    throw Error(fmt::format("two entries are called {}; rename one of the folders", name));
  }
  found.origins.entries.push_back(name);
  if (std::filesystem::is_directory(folders[i] / "runs")) {
    for (RunFolder& run : open_runs(folders[i], print_warning, &found.left_out)) {
      found.add(std::move(run), i);
    }
  } else if (!quotes) {
    print_warning(fmt::format("left out: '{}' is no results folder: it has neither runs nor a {}",
                              folders[i].string(), kQuotedFile));
  }
}

// True if predictions of a model outside che have the setting that the condition asks for.
bool is_of_predictions(const std::string& condition) {
  constexpr std::array kKnown{"task", "model.kind", "model.name", "seed", "evaluation"};
  const std::string key = condition.substr(0, condition.find('='));
  return std::ranges::any_of(kKnown, [&](const char* known) { return is_below(key, known); });
}

bool all_hold(std::vector<RunFilter>& filters, const RunConfig& config) {
  const AskedRun asked(config, {});
  return std::ranges::all_of(filters, [&](RunFilter& filter) { return filter.chooses(asked); });
}

// Says which models outside che have runs among `runs` and none among `chosen` because of a condition that
// predictions cannot hold. Models that other conditions leave out are not named.
std::vector<std::string> models_left_out(const std::vector<RunFolder>& runs,
                                         const std::vector<RunFolder>& chosen,
                                         const RunConditions& conditions) {
  std::vector<std::string> of_predictions;
  std::vector<std::string> of_training;
  for (const std::string& condition : conditions.only) {
    (is_of_predictions(condition) ? of_predictions : of_training).push_back(condition);
  }
  if (of_training.empty()) return {};
  std::vector<RunFilter> filters = filters_of({.only = of_predictions, .skip = conditions.skip}, {});
  std::map<std::string, std::size_t> left_out;  // Number of runs by model.
  for (const RunFolder& run : runs) {
    const RunConfig& config = run.config();
    if (config.is_foreign() && all_hold(filters, config)) ++left_out[config.foreign_name()];
  }
  for (const RunFolder& run : chosen) left_out.erase(run.config().foreign_name());
  const bool is_by_name = of_training.size() == 1 && of_training.front().starts_with("encoding=");
  std::string named = of_training.front().substr(of_training.front().find('=') + 1);
  if (named.starts_with('[') && named.ends_with(']')) named = named.substr(1, named.size() - 2);
  std::vector<std::string> lines;
  for (const auto& [model, count] : left_out) {
    const std::string remedy = is_by_name
                                   ? fmt::format("to keep it, name it too: encoding=[{},{}]", named, model)
                                   : "of a model outside che only task, seed and evaluation are known";
    lines.push_back(fmt::format("the model {} ({}), by --only {}; {}", model, counted(count, "run"),
                                fmt::join(of_training, " --only "), remedy));
  }
  return lines;
}

// Returns the columns of a table of all runs that none of the chosen runs has.
std::vector<EncodingLabel> columns_not_chosen(const std::vector<RunFolder>& all,
                                              const std::vector<RunFolder>& chosen) {
  if (chosen.size() == all.size()) return {};
  std::vector<RunConfig> configs;
  configs.reserve(all.size());
  for (const RunFolder& run : all) configs.push_back(run.config());
  std::set<std::filesystem::path> kept;
  for (const RunFolder& run : chosen) kept.insert(run.path());
  const CellLabels labels = label_cells(configs);
  std::set<EncodingLabel> of_chosen;
  std::set<EncodingLabel> of_others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    (kept.contains(all[i].path()) ? of_chosen : of_others).insert(labels.of[i].encoding);
  }
  return columns_without(of_others, of_chosen);
}

}  // namespace

ResultTable read_table(const std::vector<std::filesystem::path>& folders, const RunChoice& choice,
                       const ReadingRules& rules, FolderRole role) {
  const bool are_entries = role == FolderRole::kEntries;
  FoundRuns found;
  std::vector<QuotedScore> quoted;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    std::vector<QuotedScore> here = read_quoted_scores(folders[i]);
    const bool quotes = !here.empty();
    if (quotes && std::ranges::count(quoted, here.front().entry, &QuotedScore::entry) > 0) {
      throw Error(
          fmt::format("two folders that quote scores are called {}; rename one of them", here.front().entry));
    }
    std::ranges::move(here, std::back_inserter(quoted));
    if (are_entries) {
      add_entry(found, folders, i, quotes);
    } else if (!quotes || std::filesystem::is_directory(folders[i] / "runs")) {
      add_experiment(found, folders, i);
      names.push_back(folder_name(folders[i]));
    }
  }
  if (found.runs.empty()) {
    throw Error("no folder has runs; name one that `che run` or `che score` wrote");
  }
  const std::vector<RunFolder> chosen = choice.of(found.runs);
  for (std::string& line : models_left_out(found.runs, chosen, choice.conditions())) {
    found.leave_out(std::move(line));
  }
  ResultTable table = make_table(chosen, rules, found.origins);
  table.not_chosen = columns_not_chosen(found.runs, chosen);
  table.conditions = choice.conditions();
  table.left_out = std::move(found.left_out);
  table.name = are_entries ? "several entries" : fmt::format("{}", fmt::join(names, " + "));
  const bool are_accuracies = !rules.metric || rules.metric->source == Metric::Source::kAccuracy;
  if (are_accuracies) table.quoted = std::move(quoted);  // Accuracies, too.
  warn_of_damage(table);
  return table;
}

void warn_of_damage(const ResultTable& table, const WarningSink& warn) {
  for (const TableRun& run : table.runs) {
    if (!run.damage.empty()) warn(fmt::format("not counted: {}", run.damage));
  }
}

}  // namespace che
