#include "experiments/plan/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/config/field_list.h"
#include "core/config/node.h"
#include "core/error.h"
#include "core/text.h"
#include "experiments/plan/config_file.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_workload.h"
#include "experiments/plan/sweep_plan.h"
#include "experiments/plan/written_fields.h"

namespace che {
namespace {

struct Place {
  ConfigLocation location;
  bool is_whole = false;  // The path itself is set.
};

// Where `setting` sets `path`, a part of it or a group around it; nothing when it sets none of these.
std::optional<Place> locate(const Setting& setting, std::string_view path) {
  if (!is_below(path, setting.path)) {
    return is_below(setting.path, path) ? std::optional(Place{setting.value.location}) : std::nullopt;
  }
  std::optional<Place> place;
  if (!setting.path.empty()) place = Place{setting.value.location};
  path.remove_prefix(std::min(path.size(), setting.path.size() + (setting.path.empty() ? 0 : 1)));
  const ConfigNode* node = &setting.value;
  while (!path.empty()) {
    const ConfigEntry* const entry = node->find(path.substr(0, path.find('.')));
    if (!entry) break;
    place = Place{entry->location};
    node = &entry->value;
    path.remove_prefix(std::min(path.size(), entry->key.size() + 1));
  }
  if (place) place->is_whole = path.empty();
  return place;
}

// Returns where a run's config or command line sets `path`, as above. The last that sets it is applied last.
std::optional<Place> locate(const SweepPlan& plan, std::size_t run, std::string_view path) {
  std::vector<RunSetting> settings = plan.settings(run);
  std::ranges::reverse(settings);
  for (const RunSetting& setting : settings) {
    if (auto place = locate(*setting.setting, path)) return place;
  }
  std::optional<Place> last;
  for (const auto& base : plan.bases) {
    if (auto place = locate(Setting{.path = "", .value = base}, path)) last = place;
  }
  return last;
}

// The error for values of a run that do not fit together, at the place that sets the first of them.
Error locate_problem(const SweepPlan& plan, std::size_t run, const ConfigProblem& problem) {
  const std::string text = problem.message() + plan.describe(run);
  for (const std::string& path : problem.paths) {
    if (const auto place = locate(plan, run, path)) return config_error(place->location, "", text);
  }
  return config_error(plan.file, "", text);
}

// The problem of graphs that a config asks for itself and that its other settings rule out. The default gives
// way to these.
std::optional<ConfigProblem> idle_graphs(const SweepPlan& plan, std::size_t run,
                                         const ExecutionConfig& execution) {
  constexpr const char* kGraphs = "execution.graphs";
  if (!execution.graphs || execution.replays_steps()) return std::nullopt;
  const auto place = locate(plan, run, kGraphs);
  if (!place || !place->is_whole) return std::nullopt;
  if (execution.kernels != Kernels::kFused) {
    return ConfigProblem{
        {kGraphs, "execution.kernels"},
        fmt::format("graphs replay fused kernels; got kernels {}; leave out graphs, or set kernels to fused",
                    kernels_name(execution.kernels))};
  }
  return ConfigProblem{
      {kGraphs, "execution.micro_batch"},
      fmt::format("graphs replay whole batches; got micro_batch {}; leave out graphs, or set micro_batch to "
                  "whole",
                  execution.micro_batch)};
}

// The problem of a rate at the end of a schedule that has none.
std::optional<ConfigProblem> idle_rate(const TrainingConfig& training) {
  if (training.schedule != RateSchedule::kConstant || training.final_rate == TrainingConfig().final_rate) {
    return std::nullopt;
  }
  return ConfigProblem{
      {"training.final_rate", "training.schedule"},
      fmt::format("final_rate ends a cosine schedule; got {} and the schedule constant; leave final_rate "
                  "out, or set the schedule to cosine",
                  training.final_rate)};
}

Error duplicate_error(const SweepPlan& plan, std::size_t first, std::size_t second, std::string_view id) {
  return config_error(
      plan.file, "axes",
      fmt::format("runs {}{} and {}{} are one: both train the parameters {}; axes must differ in what "
                  "training reads, not in evaluation, execution or what `che evaluate --set` sets alone",
                  first + 1, plan.describe(first), second + 1, plan.describe(second), id));
}

// Returns the key that the config must set for this run, as no default should decide it, and does not set;
// empty if it sets all.
std::string_view missing_key(const SweepPlan& plan, const RunConfig& run,
                             const std::vector<RunSetting>& settings) {
  const auto is_set = [&](std::string_view key) {
    const auto has_key = [&](const ConfigNode& base) { return base.find(key) != nullptr; };
    return std::ranges::any_of(plan.bases, has_key) ||
           std::ranges::any_of(
               settings, [&](const RunSetting& setting) { return is_below(setting.setting->path, key); });
  };
  if (!run.has_text() && !is_set("task")) return "task";
  return is_set("encoding") || !run.model.entry().takes_encoding ? "" : "encoding";
}

enum class Wanted { kYes, kExcluded, kNotChosen };

// Whether the config's exclusions and then the command line leave the run in. Every filter is asked, so that
// each sees every run.
Wanted choice_of(SweepPlan& plan, const RunConfig& run, std::size_t number) {
  if (plan.exclude.empty() && plan.chosen_by.empty()) return Wanted::kYes;
  const AskedRun asked(run, plan.labels(number));
  bool excluded = false;
  bool chosen = true;
  for (RunFilter& filter : plan.exclude) excluded |= filter.matches(asked);
  for (RunFilter& filter : plan.chosen_by) chosen &= filter.chooses(asked);
  if (excluded) return Wanted::kExcluded;
  return chosen ? Wanted::kYes : Wanted::kNotChosen;
}

bool is_inside_axis(const SweepPlan& plan, std::string_view path) {
  return std::ranges::any_of(
      plan.axes, [&](const Axis& axis) { return path != axis.name && is_below(path, axis.name); });
}

// Whether the value of a component, such as `rope` or `{name: rope}`, sets all of it.
bool names_component(const ConfigNode& value) {
  const auto has = [&](const char* name) { return value.find(name) != nullptr; };
  return value.kind == ConfigNode::Kind::kScalar || has("name") || has("corpus") || has("file");
}

// Warns where the command line sets what named variants set.
void warn_of_replaced_variants(const SweepPlan& plan, const WrittenFields& written, const WarningSink& warn) {
  for (const Axis& axis : plan.axes) {
    if (!axis.has_variants()) continue;
    std::set<std::string> replaced;
    for (const AxisValue& value : axis.values) {
      for (const Setting& setting : value.settings) {
        const auto replaces = [&](const Setting& other) {
          return (names_component(other.value) && is_below(setting.path, other.path)) ||
                 written.share_a_field(setting, other);
        };
        if (std::ranges::any_of(plan.overrides, replaces)) replaced.insert(setting.path);
      }
    }
    for (const std::string& path : replaced) {
      const std::string problem = fmt::format("the command line replaces what its variants set for {}", path);
      warn(config_error(axis.location, "axes." + axis.name, problem).what());
    }
  }
}

// Warns where an axis replaces a component, such as `encoding`, of which the base sets more than the name.
void warn_of_replaced_base(const SweepPlan& plan, const WarningSink& warn) {
  for (const Axis& axis : plan.axes) {
    const char* const name = axis.name == "text" ? "corpus" : "name";
    for (const ConfigNode& base : plan.bases) {
      const ConfigEntry* const set = base.find(axis.name);
      if (set == nullptr || set->value.find(name) == nullptr) continue;
      std::vector<std::string> replaced;
      for (const ConfigEntry& entry : set->value.entries) {
        if (entry.key != name) replaced.push_back(entry.key);
      }
      if (replaced.empty()) continue;
      warn(config_error(set->location, "base." + axis.name,
                        fmt::format("axes.{} replaces all of it, {} too; write what its values need into the "
                                    "values, or as axes of their own",
                                    axis.name, fmt::join(replaced, ", ")))
               .what());
    }
  }
}

// The problem of a text that has no windows as the config asks for. Only a config's reader asks: stored runs
// are read where their corpus is no more.
std::optional<ConfigProblem> windows_problem(const RunConfig& run) {
  if (!run.has_text()) return std::nullopt;
  if (run.evaluation.listed_lengths.empty()) {
    return ConfigProblem{{"evaluation.lengths"}, "is empty; allowed with a text: a list of test lengths"};
  }
  SequenceBatch batch;
  RunConfig longest = run;
  longest.training.first_length = run.training.last_length;
  try {
    create_workload(longest)->training_batch(0, batch);
  } catch (const Error& error) {
    return ConfigProblem{{"training.last_length", "text"}, error.what()};
  }
  try {
    check_windows(run);
  } catch (const Error& error) {
    return ConfigProblem{{"evaluation.lengths", "evaluation.part", "text"}, error.what()};
  }
  try {
    if (run.log.validation_steps > 0) create_workload(run)->validation_batch(batch);
  } catch (const Error& error) {
    return ConfigProblem{{"log.validation_steps", "text"}, error.what()};
  }
  return std::nullopt;
}

// A config means the tasks as this program draws them.
void use_drawn_version(const SweepPlan& plan, TaskConfig& task) {
  if (is_drawn(task)) return;
  const int drawn = Registry<TaskEntry>::instance().get(task.name).version;
  if (task.version != TaskConfig().version) {
    throw config_error(
        plan.file, "task.version",
        fmt::format("got {}; this che draws version {} of {}", task.version, drawn, task.name));
  }
  task.version = drawn;
}

// The error for a choice that leaves no run; `not_chosen` is what it chose from.
Error nothing_left(SweepPlan& plan, const std::vector<RunConfig>& not_chosen) {
  std::string problem = fmt::format("none of its {} is left by exclude", counted(plan.count(), "run"));
  if (plan.chosen_by.empty()) return config_error(plan.file, "", problem);
  problem += fmt::format(" and {}", options_text(plan.chosen_by));
  for (RunFilter& filter : plan.chosen_by) {
    if (const std::string held = filter.held_instead(not_chosen); !held.empty()) {
      return config_error(plan.file, "", fmt::format("{}; in its runs, {}", problem, held));
    }
  }
  return config_error(plan.file, "", problem + "; `che check` without it shows what there is");
}

// Throws Error (usage) for two corpora of one name, of which no table could be made.
void check_corpora_differ(const SweepPlan& plan, const std::vector<RunConfig>& runs) {
  std::map<std::string_view, const TextConfig*> first_of;  // By the name of a corpus.
  for (const RunConfig& run : runs) {
    if (!run.has_text()) continue;
    const TextConfig& first = *first_of.emplace(run.text.name, &run.text).first->second;
    if (first.hash == run.text.hash) continue;
    throw config_error(
        plan.file, "text",
        fmt::format("two corpora are called {}, which tables tell apart by their names: {} and {}; make or "
                    "import one of them again with another --name",
                    run.text.name, one_line(first.corpus, kWholeText),
                    one_line(run.text.corpus, kWholeText)));
  }
}

struct ExpandedRuns {
  std::vector<RunConfig> runs;
  std::vector<RunConfig> not_chosen;
  std::string_view missing_key = {};  // The first that a run lacks; see missing_key().
};

ExpandedRuns expand(SweepPlan& plan, WrittenFields& written) {
  const std::size_t count = plan.count();
  RunConfig base;
  std::optional<std::vector<const Setting*>> base_named;  // `base` was read for these.
  ExpandedRuns expanded;
  std::map<std::string, std::size_t> run_of_id;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<RunSetting> settings = plan.settings(i);
    std::vector<const Setting*> named;
    for (const RunSetting& setting : settings) {
      const std::string& set = setting.setting->path;
      if (is_below(set, "text") || is_below("model.kind", set)) named.push_back(setting.setting);
    }
    if (base_named != named) {
      base = read_bases(plan.bases, named);
      base_named = std::move(named);
    }
    RunConfig run = base;
    for (const RunSetting& setting : settings) {
      try {
        written.apply(*setting.setting, run);
      } catch (const Error& error) {
        // Whether it fits may depend on the value of the axis around it.
        if (!is_inside_axis(plan, setting.setting->path)) throw;
        std::string text = error.what() + plan.describe(i);
        if (setting.axis != nullptr && !setting.is_override()) {
          text += "; an axis of named variants sets both, and only where they fit";
        }
        throw Error(text);
      }
    }
    if (!run.has_text()) use_drawn_version(plan, run.task);
    written.check_apart(settings);
    const Wanted wanted = choice_of(plan, run, i);
    if (wanted == Wanted::kNotChosen) expanded.not_chosen.push_back(run);
    if (wanted != Wanted::kYes) continue;
    if (expanded.missing_key.empty()) expanded.missing_key = missing_key(plan, run, settings);
    if (const auto problem = run.problem()) throw locate_problem(plan, i, *problem);
    if (const auto problem = run.idle_setting()) throw locate_problem(plan, i, *problem);
    if (const auto problem = windows_problem(run)) throw locate_problem(plan, i, *problem);
    if (const auto problem = idle_rate(run.training)) throw locate_problem(plan, i, *problem);
    if (const auto problem = idle_graphs(plan, i, run.execution)) throw locate_problem(plan, i, *problem);
    const std::string id = run_id(run);
    const auto [same, is_new] = run_of_id.emplace(id, i);
    if (!is_new) throw duplicate_error(plan, same->second, i, id);
    expanded.runs.push_back(std::move(run));
  }
  for (const auto* filters : {&plan.exclude, &plan.chosen_by}) {
    for (const RunFilter& filter : *filters) filter.check_made_sense();
  }
  if (expanded.runs.empty()) throw nothing_left(plan, expanded.not_chosen);
  check_corpora_differ(plan, expanded.runs);
  return expanded;
}

}  // namespace

Sweep read_sweep(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                 const RunConditions& conditions, const WarningSink& warn) {
  SweepPlan plan = read_sweep_plan(path, overrides, conditions);
  WrittenFields written;
  ExpandedRuns expanded = expand(plan, written);
  if (const std::string_view key = expanded.missing_key; !key.empty()) {
    throw config_error(plan.file, key,
                       fmt::format("is missing; name one in base or several in axes ({}: [...])", key));
  }
  warn_of_replaced_variants(plan, written, warn);
  warn_of_replaced_base(plan, warn);
  for (const RunFilter& filter : plan.exclude) {
    if (!filter.has_matched()) warn(config_error(filter.location(), "exclude", "leaves out no run").what());
  }
  for (const RunFilter& filter : plan.chosen_by) {
    for (const std::string& value : filter.unheld_values()) {
      warn(fmt::format("{}: no run of the config has {}", filter.option(), value));
    }
  }
  return {.name = std::move(plan.name),
          .description = std::move(plan.description),
          .extends = std::move(plan.extends),
          .runs = std::move(expanded.runs),
          .not_chosen = std::move(expanded.not_chosen)};
}

}  // namespace che
