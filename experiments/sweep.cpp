#include "experiments/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "core/config_reader.h"
#include "core/config_tree.h"
#include "core/error.h"

namespace che {
namespace {

using Kind = ConfigNode::Kind;

constexpr std::size_t kMaxRuns = 100'000;
constexpr std::size_t kMaxNameLength = 100;
constexpr std::string_view kAxesPrefix = "axes.";

// A value for a key path of RunConfig.
struct Setting {
  std::string path;
  ConfigNode value;
};

struct Axis {
  std::string path;
  ConfigLocation location;
  std::vector<ConfigNode> values;
};

// A config file with its overrides, before it is expanded.
struct Plan {
  ConfigLocation file;
  std::string name;
  std::string description;
  ConfigNode base;  // A map.
  std::vector<Axis> axes;
  std::vector<Setting> overrides;
};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

// The name becomes a folder.
std::string read_name(const ConfigNode& node) {
  const std::string& text = node.text;
  if (node.kind != Kind::kScalar || text.empty() || text.size() > kMaxNameLength || text[0] == '.' ||
      text[0] == '-' || !std::ranges::all_of(text, is_name_character)) {
    throw config_error(
        node.location, "name",
        fmt::format("got {}; allowed: 1 to {} letters, digits, '.', '_', '-', no '.' or '-' first",
                    short_text(node), kMaxNameLength));
  }
  return text;
}

Axis read_axis(std::string path, const ConfigLocation& location, const ConfigNode& node) {
  if (node.kind != Kind::kSequence || node.items.empty()) {
    throw config_error(node.location, std::string(kAxesPrefix) + path,
                       fmt::format("got {}; allowed: a list of values, such as [0, 1]", short_text(node)));
  }
  return {.path = std::move(path), .location = location, .values = node.items};
}

Plan read_plan(const std::filesystem::path& path) {
  const ConfigNode root = read_config_file(path);
  check_keys(root, "", {"name", "description", "base", "axes"});
  Plan plan;
  plan.base.kind = ConfigNode::Kind::kMap;
  plan.file = {root.location.source, 0, 0};
  const ConfigEntry* const name = root.find("name");
  if (!name) throw config_error(plan.file, "name", "is missing; results go to a folder of that name");
  plan.name = read_name(name->value);
  if (const ConfigEntry* const description = root.find("description")) {
    const ConfigNode& node = description->value;
    if (node.kind != Kind::kScalar || node.text.find('\n') != std::string::npos) {
      throw config_error(node.location, "description",
                         fmt::format("got {}; allowed: one line", short_text(node)));
    }
    plan.description = node.text;
  }
  if (const ConfigEntry* const base = root.find("base")) plan.base = base->value;
  if (const ConfigEntry* const axes = root.find("axes")) {
    if (axes->value.kind != Kind::kMap) {
      throw config_error(
          axes->value.location, "axes",
          fmt::format("got {}; allowed: a map of key paths to lists", short_text(axes->value)));
    }
    for (const ConfigEntry& axis : axes->value.entries) {
      plan.axes.push_back(read_axis(axis.key, axis.location, axis.value));
    }
  }
  return plan;
}

// Lines and columns within a command line's argument say nothing to its reader.
void set_location(ConfigNode& node, const ConfigLocation& location) {
  node.location = location;
  for (ConfigNode& item : node.items) set_location(item, location);
  for (ConfigEntry& entry : node.entries) {
    entry.location = location;
    set_location(entry.value, location);
  }
}

Setting parse_override(const std::string& text) {
  const ConfigLocation location{std::make_shared<const std::string>("command line"), 0, 0};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw config_error(
        location, "",
        fmt::format("got '{}'; allowed: key=value, such as training.steps=100", one_line(text)));
  }
  Setting setting{.path = text.substr(0, equals), .value = {}};
  if (setting.path == "base" || setting.path.starts_with("base.")) {
    throw config_error(location, setting.path, "key paths on the command line leave out 'base.'");
  }
  try {
    setting.value = parse_config(std::string_view(text).substr(equals + 1), setting.path);
  } catch (const Error& error) {
    throw config_error(location, "", error.what());
  }
  set_location(setting.value, location);
  return setting;
}

// Overrides of whole axes come first, so that a single value for an axis' key finds it.
void add_overrides(Plan& plan, const std::vector<std::string>& overrides) {
  std::vector<Setting> plain;
  const auto axis_of = [&](std::string_view path) { return std::ranges::find(plan.axes, path, &Axis::path); };
  for (const std::string& text : overrides) {
    Setting setting = parse_override(text);
    if (setting.path == "name") {
      plan.name = read_name(setting.value);
    } else if (setting.path.starts_with(kAxesPrefix)) {
      Axis axis = read_axis(setting.path.substr(kAxesPrefix.size()), setting.value.location, setting.value);
      const auto existing = axis_of(axis.path);
      if (existing != plan.axes.end()) {
        *existing = std::move(axis);
      } else {
        plan.axes.push_back(std::move(axis));
      }
    } else {
      plain.push_back(std::move(setting));
    }
  }
  for (Setting& setting : plain) {
    if (setting.value.kind == Kind::kSequence) {
      throw config_error(setting.value.location, setting.path,
                         fmt::format("got {0}; an override sets one value; axes.{1}={0} sweeps over several",
                                     short_text(setting.value), one_line(setting.path)));
    }
    const auto axis = axis_of(setting.path);
    if (axis != plan.axes.end()) {
      axis->values = {std::move(setting.value)};
    } else {
      plan.overrides.push_back(std::move(setting));
    }
  }
}

std::size_t count_runs(const Plan& plan) {
  std::size_t runs = 1;
  for (const Axis& axis : plan.axes) {
    if (axis.values.size() > kMaxRuns / runs) {
      throw config_error(axis.location, kAxesPrefix.substr(0, kAxesPrefix.size() - 1),
                         fmt::format("more than {} runs; allowed: at most that many", kMaxRuns));
    }
    runs *= axis.values.size();
  }
  return runs;
}

void apply(RunConfig& run, const Setting& setting) {
  assign_path(setting.path, setting.value, [&](FieldVisitor& visitor) { run.visit_fields(visitor); });
}

// The axes' values in run number `run`, in the order of the axes.
std::vector<Setting> axis_settings(const Plan& plan, std::size_t run) {
  std::vector<Setting> settings(plan.axes.size());
  for (std::size_t i = plan.axes.size(); i-- > 0;) {
    const Axis& axis = plan.axes[i];
    settings[i] = {.path = axis.path, .value = axis.values[run % axis.values.size()]};
    run /= axis.values.size();
  }
  return settings;
}

// " (task=parity_check, seed=0)", empty without axes.
std::string describe_run(const Plan& plan, std::size_t run) {
  std::string text;
  for (const Setting& setting : axis_settings(plan, run)) {
    text +=
        fmt::format("{}{}={}", text.empty() ? " (" : ", ", one_line(setting.path), short_text(setting.value));
  }
  return text.empty() ? text : text + ")";
}

bool is_below(std::string_view path, std::string_view ancestor) {
  return ancestor.empty() || path == ancestor ||
         (path.size() > ancestor.size() && path.starts_with(ancestor) && path[ancestor.size()] == '.');
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
Error locate_error(const Plan& plan, std::size_t run, const Error& error) {
  std::vector<Setting> settings = {{.path = "", .value = plan.base}};
  std::ranges::move(axis_settings(plan, run), std::back_inserter(settings));
  settings.insert(settings.end(), plan.overrides.begin(), plan.overrides.end());
  const std::string_view message = error.what();
  std::string_view paths = message.substr(0, message.find(':'));
  while (!paths.empty()) {
    const std::string_view path = paths.substr(0, paths.find(','));
    for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting) {
      if (const auto location = locate(*setting, path)) {
        return config_error(*location, "", error.what() + describe_run(plan, run));
      }
    }
    paths.remove_prefix(path.size());
    paths.remove_prefix(std::min(paths.find_first_not_of(", "), paths.size()));
  }
  return config_error(plan.file, "", error.what() + describe_run(plan, run));
}

Error duplicate_error(const Plan& plan, std::size_t first, std::size_t second, std::string_view id) {
  return config_error(
      plan.file, "axes",
      fmt::format("runs {}{} and {}{} are one: both train the parameters {}; axes must differ in more "
                  "than evaluation and execution",
                  first + 1, describe_run(plan, first), second + 1, describe_run(plan, second), id));
}

// Throws where a config does not say what no default should decide.
void check_is_set(const Plan& plan, std::string_view key) {
  const auto sets = [&](const auto& setting) { return is_below(setting.path, key); };
  if (plan.base.find(key) != nullptr || std::ranges::any_of(plan.axes, sets) ||
      std::ranges::any_of(plan.overrides, sets)) {
    return;
  }
  throw config_error(plan.file, key,
                     fmt::format("is missing; name one in base or several in axes ({}: [...])", key));
}

// Throws when the values of one axis set what another axis is about: one of them would have no say.
void check_axes_are_apart(const Plan& plan) {
  for (const Axis& outer : plan.axes) {
    for (const Axis& inner : plan.axes) {
      if (outer.path == inner.path || !is_below(inner.path, outer.path)) continue;
      for (const ConfigNode& value : outer.values) {
        const ConfigNode* node = &value;
        for (std::string_view rest = std::string_view(inner.path).substr(outer.path.size() + 1);
             node != nullptr;) {
          const ConfigEntry* const entry = node->find(rest.substr(0, rest.find('.')));
          node = entry != nullptr ? &entry->value : nullptr;
          if (node == nullptr || rest.find('.') == std::string_view::npos) break;
          rest.remove_prefix(rest.find('.') + 1);
        }
        if (node != nullptr) {
          throw config_error(inner.location, "axes." + inner.path,
                             fmt::format("axes.{} sets this too; keep one of them", outer.path));
        }
      }
    }
  }
}

std::vector<RunConfig> expand(const Plan& plan) {
  check_axes_are_apart(plan);
  RunConfig base;
  assign_fields(
      plan.base, [&](FieldVisitor& visitor) { base.visit_fields(visitor); }, "base.");
  const std::size_t count = count_runs(plan);
  std::vector<RunConfig> runs;
  runs.reserve(count);
  std::map<std::string, std::size_t> run_of_id;
  for (std::size_t i = 0; i < count; ++i) {
    RunConfig run = base;
    std::vector<Setting> settings = axis_settings(plan, i);
    // A group's value precedes its fields' (encoding, then encoding.dape.hidden), in whatever order
    // the axes stand.
    std::ranges::stable_sort(settings, {},
                             [](const Setting& setting) { return std::ranges::count(setting.path, '.'); });
    for (const Setting& setting : settings) apply(run, setting);
    for (const Setting& setting : plan.overrides) apply(run, setting);
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
  return runs;
}

}  // namespace

Sweep read_sweep(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  Plan plan = read_plan(path);
  add_overrides(plan, overrides);
  std::vector<RunConfig> runs = expand(plan);
  check_is_set(plan, "task");
  check_is_set(plan, "encoding");
  return {.name = std::move(plan.name), .description = std::move(plan.description), .runs = std::move(runs)};
}

}  // namespace che
