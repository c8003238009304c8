#include "experiments/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/config_reader.h"
#include "core/config_tree.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/field_list.h"
#include "experiments/sweep_plan.h"

namespace che {
namespace {

void apply(RunConfig& run, const Setting& setting) {
  assign_path(setting.path, setting.value, [&](FieldVisitor& visitor) { run.visit_fields(visitor); });
}

// Where `setting` sets `path`, a part of it or a group around it; nothing when it has no say in it.
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

// Adds to an error of RunConfig::check where the config sets the key paths it starts with, and which
// run it is.
Error locate_error(const SweepPlan& plan, std::size_t run, const Error& error) {
  std::vector<Setting> settings = {{.path = "", .value = plan.base}};
  std::ranges::move(plan.settings(run), std::back_inserter(settings));
  settings.insert(settings.end(), plan.overrides.begin(), plan.overrides.end());
  std::ranges::reverse(settings);  // The last that sets a path has its say.
  const std::string_view message = error.what();
  std::string_view paths = message.substr(0, message.find(':'));
  while (!paths.empty()) {
    const std::string_view path = paths.substr(0, paths.find(','));
    for (const Setting& setting : settings) {
      if (const auto location = locate(setting, path)) {
        return config_error(*location, "", error.what() + plan.describe(run));
      }
    }
    paths.remove_prefix(path.size());
    paths.remove_prefix(std::min(paths.find_first_not_of(", "), paths.size()));
  }
  return config_error(plan.file, "", error.what() + plan.describe(run));
}

Error duplicate_error(const SweepPlan& plan, std::size_t first, std::size_t second, std::string_view id) {
  return config_error(
      plan.file, "axes",
      fmt::format("runs {}{} and {}{} are one: both train the parameters {}; axes must differ in more "
                  "than evaluation and execution",
                  first + 1, plan.describe(first), second + 1, plan.describe(second), id));
}

// Throws where a config does not say what no default should decide.
void check_is_set(const SweepPlan& plan, std::string_view key) {
  const auto sets = [&](const Setting& setting) { return is_below(setting.path, key); };
  const auto every_value_sets = [&](const Axis& axis) {
    return std::ranges::all_of(
        axis.values, [&](const AxisValue& value) { return std::ranges::any_of(value.settings, sets); });
  };
  if (plan.base.find(key) != nullptr || std::ranges::any_of(plan.axes, every_value_sets) ||
      std::ranges::any_of(plan.overrides, sets)) {
    return;
  }
  throw config_error(plan.file, key,
                     fmt::format("is missing; name one in base or several in axes ({}: [...])", key));
}

// Whether `setting` says what `path`, or a part of it, is.
bool decides(const Setting& setting, std::string_view path) {
  if (!is_below(path, setting.path)) return false;
  const ConfigNode* node = &setting.value;
  for (std::string_view rest = path.substr(std::min(path.size(), setting.path.size() + 1)); !rest.empty();) {
    const ConfigEntry* const entry = node->find(rest.substr(0, rest.find('.')));
    if (entry == nullptr) return false;
    node = &entry->value;
    rest.remove_prefix(std::min(rest.size(), entry->key.size() + 1));
  }
  return true;
}

// Throws when the values of one axis set what another axis is about: one of them would have no say.
void check_axes_are_apart(const SweepPlan& plan) {
  for (const Axis& axis : plan.axes) {
    std::set<std::string> paths;
    for (const AxisValue& value : axis.values) {
      for (const Setting& setting : value.settings) paths.insert(setting.path);
    }
    for (const Axis& other : plan.axes) {
      if (&other == &axis) continue;
      for (const AxisValue& value : other.values) {
        for (const Setting& setting : value.settings) {
          const auto twice =
              std::ranges::find_if(paths, [&](const std::string& path) { return decides(setting, path); });
          if (twice == paths.end()) continue;
          throw config_error(axis.location, "axes." + axis.name,
                             fmt::format("axes.{} sets {} too; keep one of them", other.name,
                                         axis.has_variants() ? *twice : "this"));
        }
      }
    }
  }
}

// Whether the command line and the config's exclusions leave the run in. Every filter is asked, so that
// each sees every run.
bool is_wanted(SweepPlan& plan, const RunConfig& run, std::size_t number) {
  if (plan.exclude.empty() && plan.only.empty()) return true;
  const AskedRun asked(run, plan.labels(number));
  bool wanted = true;
  for (RunFilter& filter : plan.exclude) wanted &= !filter.matches(asked);
  for (RunFilter& filter : plan.only) wanted &= filter.matches(asked);
  return wanted;
}

bool is_inside_axis(const SweepPlan& plan, std::string_view path) {
  return std::ranges::any_of(
      plan.axes, [&](const Axis& axis) { return path != axis.name && is_below(path, axis.name); });
}

// Warns where the command line sets what named variants are about. A single value of a group,
// `encoding=rope`, sets all of it.
void warn_of_replaced_variants(const SweepPlan& plan, const WarningSink& warn) {
  for (const Axis& axis : plan.axes) {
    if (!axis.has_variants()) continue;
    std::set<std::string> replaced;
    for (const AxisValue& value : axis.values) {
      for (const Setting& setting : value.settings) {
        const auto replaces = [&](const Setting& other) {
          const bool is_single = other.value.kind == ConfigNode::Kind::kScalar;
          return is_single ? is_below(setting.path, other.path) : decides(other, setting.path);
        };
        if (std::ranges::any_of(plan.overrides, replaces)) replaced.insert(setting.path);
      }
    }
    for (const std::string& path : replaced) {
      const std::string problem = fmt::format("the command line replaces what its variants say of {}", path);
      warn(config_error(axis.location, "axes." + axis.name, problem).what());
    }
  }
}

void warn_of_idle_exclusions(const SweepPlan& plan, const WarningSink& warn) {
  for (const RunFilter& filter : plan.exclude) {
    if (!filter.has_matched()) warn(config_error(filter.location(), "exclude", "leaves out no run").what());
  }
}

std::vector<RunConfig> expand(SweepPlan& plan) {
  check_axes_are_apart(plan);
  RunConfig base;
  assign_fields(
      plan.base, [&](FieldVisitor& visitor) { base.visit_fields(visitor); }, "base.");
  const std::size_t count = plan.count();
  std::vector<RunConfig> runs;
  std::map<std::string, std::size_t> run_of_id;
  for (std::size_t i = 0; i < count; ++i) {
    RunConfig run = base;
    std::vector<Setting> settings = plan.settings(i);
    // A group's value precedes its fields' (encoding, then encoding.dape.hidden), in whatever order
    // the axes stand.
    std::ranges::stable_sort(settings, {},
                             [](const Setting& setting) { return std::ranges::count(setting.path, '.'); });
    settings.insert(settings.end(), plan.overrides.begin(), plan.overrides.end());
    for (const Setting& setting : settings) {
      try {
        apply(run, setting);
      } catch (const Error& error) {
        // Whether it fits may depend on the value of the axis around it.
        if (!is_inside_axis(plan, setting.path)) throw;
        throw Error(error.what() + plan.describe(i));
      }
    }
    if (!is_wanted(plan, run, i)) continue;
    try {
      run.check();
    } catch (const Error& error) {
      throw locate_error(plan, i, error);
    }
    const std::string id = run_id(run);
    const auto [same, is_new] = run_of_id.emplace(id, i);
    if (!is_new) throw duplicate_error(plan, same->second, i, id);
    runs.push_back(std::move(run));
  }
  for (const auto* filters : {&plan.exclude, &plan.only}) {
    for (const RunFilter& filter : *filters) filter.check_made_sense();
  }
  if (runs.empty()) {
    throw config_error(plan.file, "",
                       plan.only.empty()
                           ? fmt::format("none of its {} is left by exclude", counted(count, "run"))
                           : fmt::format("none of its {} is left by exclude and --only; `che check` without "
                                         "--only shows what there is",
                                         counted(count, "run")));
  }
  return runs;
}

}  // namespace

Sweep read_sweep(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                 const std::vector<std::string>& only, const WarningSink& warn) {
  SweepPlan plan = read_sweep_plan(path, overrides, only);
  warn_of_replaced_variants(plan, warn);
  std::vector<RunConfig> runs = expand(plan);
  check_is_set(plan, "task");
  check_is_set(plan, "encoding");
  warn_of_idle_exclusions(plan, warn);
  return {.name = std::move(plan.name), .description = std::move(plan.description), .runs = std::move(runs)};
}

}  // namespace che
