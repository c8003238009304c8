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
#include "core/config/reader.h"
#include "core/error.h"
#include "core/text.h"
#include "experiments/plan/config_file.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_workload.h"
#include "experiments/plan/sweep_plan.h"

namespace che {
namespace {

bool is_override(const RunSetting& setting) { return !setting.axis || setting.axis->is_override; }

bool is_variant(const RunSetting& setting) { return setting.axis && setting.axis->has_variants(); }

// The name of a setting in the config or on the command line.
std::string name_of(const RunSetting& setting) {
  if (is_override(setting)) return setting.setting->path;
  if (!is_variant(setting)) return "axes." + setting.axis->name;
  return fmt::format("variant '{}' of axes.{}", one_line(setting.value->label), setting.axis->name);
}

// If two settings write one field, the one with the lower rank is to be kept.
std::tuple<bool, bool, std::size_t> rank(const RunSetting& setting) {
  return {is_override(setting), !is_variant(setting), setting.setting->path.size()};
}

ConfigLocation location_of(const RunSetting& setting) {
  return setting.axis && !is_variant(setting) ? setting.axis->location : setting.setting->value.location;
}

// The error for two settings that write `field`. It names both, and which of them to keep: variants rather
// than another axis, an axis rather than an override, and else the wider one.
Error conflict(const RunSetting& one, const RunSetting& other, std::string_view field, bool only_field) {
  if (one.value != nullptr && one.value == other.value) {
    const auto wider = [](const RunSetting& setting) { return setting.setting->path.size(); };
    const auto& [kept, dropped] = wider(one) > wider(other) ? std::pair(one, other) : std::pair(other, one);
    return config_error(
        location_of(dropped), "axes." + one.axis->name,
        fmt::format("variant '{}' sets {} twice, by {} and by {}; keep {} and take it out of {}",
                    one_line(one.value->label), field, dropped.setting->path, kept.setting->path,
                    kept.setting->path, dropped.setting->path));
  }
  const RunSetting& kept = rank(one) <= rank(other) ? one : other;
  const RunSetting& dropped = &kept == &one ? other : one;
  std::string remedy = fmt::format("keep {} and ", name_of(kept));
  remedy += only_field ? "remove this one" : fmt::format("take {} out of this one", field);
  if (is_override(dropped) && !is_override(kept)) {
    remedy += fmt::format("; axes.{}=[...] replaces the axis", kept.axis->name);
  }
  return config_error(location_of(dropped),
                      is_variant(dropped) ? "axes." + dropped.axis->name : name_of(dropped),
                      fmt::format("sets {}, which {} sets too; {}", field, name_of(kept), remedy));
}

// Which fields of RunConfig each setting of a sweep writes, whichever way it is written: randomized_rope for
// `encoding` writes encoding.name and encoding.positions.
class WrittenFields {
 public:
  // Applies the setting to `run`, which must have what the setting is inside. The first call for a setting
  // notes what it writes; `setting` must not move until the last call. Throws Error
  // (usage) where assign_path does.
  void apply(const Setting& setting, RunConfig& run);

  // Whether both were applied and write one field.
  bool share_a_field(const Setting& one, const Setting& other) const;

  // Throws Error (usage) when two of a run's settings, all of them applied, write one field. Only an override
  // of what named variants set is allowed to.
  void check_apart(const std::vector<RunSetting>& settings) const;

 private:
  std::map<const Setting*, std::vector<std::string>> fields_;
};

void WrittenFields::apply(const Setting& setting, RunConfig& run) {
  fields_.try_emplace(&setting, assign_path(setting.path, setting.value, fields_of(run)));
}

bool WrittenFields::share_a_field(const Setting& one, const Setting& other) const {
  const auto first = fields_.find(&one);
  const auto second = fields_.find(&other);
  if (first == fields_.end() || second == fields_.end()) return false;
  return std::ranges::any_of(
      first->second, [&](const std::string& field) { return std::ranges::count(second->second, field) > 0; });
}

void WrittenFields::check_apart(const std::vector<RunSetting>& settings) const {
  std::unordered_map<std::string_view, const RunSetting*> writer_of;
  for (const RunSetting& setting : settings) {
    for (const std::string& field : fields_.at(setting.setting)) {
      const auto [writer, is_first] = writer_of.emplace(field, &setting);
      if (is_first || (is_variant(*writer->second) && is_override(setting))) continue;
      const RunSetting& first = *writer->second;
      const RunSetting& dropped = rank(first) <= rank(setting) ? setting : first;
      throw conflict(first, setting, field, fields_.at(dropped.setting).size() == 1);
    }
  }
}

// Where `setting` sets `path`, a part of it or a group around it; nothing when it sets none of these.
std::optional<ConfigLocation> locate(const Setting& setting, std::string_view path) {
  if (!is_below(path, setting.path)) {
    return is_below(setting.path, path) ? std::optional(setting.value.location) : std::nullopt;
  }
  std::optional<ConfigLocation> location;
  if (!setting.path.empty()) location = setting.value.location;
  path.remove_prefix(std::min(path.size(), setting.path.size() + (setting.path.empty() ? 0 : 1)));
  const ConfigNode* node = &setting.value;
  while (!path.empty()) {
    const ConfigEntry* const entry = node->find(path.substr(0, path.find('.')));
    if (!entry) break;
    location = entry->location;
    node = &entry->value;
    path.remove_prefix(std::min(path.size(), entry->key.size() + 1));
  }
  return location;
}

// The error for values of a run that do not fit together, at the place that sets the first of them.
Error locate_problem(const SweepPlan& plan, std::size_t run, const ConfigProblem& problem) {
  std::vector<Setting> bases;
  bases.reserve(plan.bases.size());
  for (const ConfigNode& base : plan.bases) bases.push_back({.path = "", .value = base});
  std::vector<RunSetting> settings;
  settings.reserve(bases.size());
  for (const Setting& base : bases) settings.push_back({&base});
  std::ranges::move(plan.settings(run), std::back_inserter(settings));
  std::ranges::reverse(settings);  // The last that sets a path is applied last.
  const std::string text = problem.message() + plan.describe(run);
  for (const std::string& path : problem.paths) {
    for (const RunSetting& setting : settings) {
      if (const auto location = locate(*setting.setting, path)) return config_error(*location, "", text);
    }
  }
  return config_error(plan.file, "", text);
}

Error duplicate_error(const SweepPlan& plan, std::size_t first, std::size_t second, std::string_view id) {
  return config_error(
      plan.file, "axes",
      fmt::format("runs {}{} and {}{} are one: both train the parameters {}; axes must differ in more "
                  "than evaluation and execution",
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

// Warns where the command line sets what named variants set. The name of a component, `encoding=rope`, sets
// all of it.
void warn_of_replaced_variants(const SweepPlan& plan, const WrittenFields& written, const WarningSink& warn) {
  for (const Axis& axis : plan.axes) {
    if (!axis.has_variants()) continue;
    std::set<std::string> replaced;
    for (const AxisValue& value : axis.values) {
      for (const Setting& setting : value.settings) {
        const auto replaces = [&](const Setting& other) {
          const bool is_single = other.value.kind == ConfigNode::Kind::kScalar;
          return (is_single && is_below(setting.path, other.path)) || written.share_a_field(setting, other);
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
    for (const ConfigNode& base : plan.bases) {
      const ConfigEntry* const set = base.find(axis.name);
      if (set == nullptr || set->value.find("name") == nullptr) continue;
      std::vector<std::string> replaced;
      for (const ConfigEntry& entry : set->value.entries) {
        if (entry.key != "name") replaced.push_back(entry.key);
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
  const auto workload = create_workload(run);
  SequenceBatch batch;
  RunConfig longest = run;
  longest.training.first_length = run.training.last_length;
  try {
    create_workload(longest)->training_batch(0, batch);
  } catch (const Error& error) {
    return ConfigProblem{{"training.last_length", "text"}, error.what()};
  }
  try {
    for (const std::int64_t length : workload->points()) workload->evaluation_batch(length, 0, 1, batch);
  } catch (const Error& error) {
    return ConfigProblem{{"evaluation.lengths", "evaluation.part", "text"}, error.what()};
  }
  try {
    if (run.log.validation_steps > 0) workload->validation_batch(batch);
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
        if (setting.axis != nullptr && !is_override(setting)) {
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
    if (const auto problem = windows_problem(run)) throw locate_problem(plan, i, *problem);
    if (const auto problem = run.encoding.idle_setting()) throw locate_problem(plan, i, *problem);
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
