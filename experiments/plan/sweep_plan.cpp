#include "experiments/plan/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/config/reader.h"
#include "core/error.h"
#include "core/number_text.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "experiments/plan/config_file.h"

namespace che {
namespace {

using Kind = ConfigNode::Kind;

constexpr std::size_t kMaxNameLength = 100;
constexpr std::size_t kMaxExcludeKeys = 256;
constexpr std::string_view kAxesPrefix = "axes.";
constexpr std::string_view kAllowedAxes = "a map of key paths to lists";

[[noreturn]] void refuse_too_many(const ConfigLocation& location) {
  throw config_error(location, "axes",
                     fmt::format("more than {} runs; allowed: at most that many", kMaxRuns));
}

// The name becomes a folder.
std::string read_name(const ConfigNode& node) {
  const std::string& text = node.text;
  if (node.kind != Kind::kScalar || !is_plain_name(text, kMaxNameLength)) {
    throw config_error(node.location, "name",
                       fmt::format("got {}; allowed: {}", short_text(node), plain_name_form(kMaxNameLength)));
  }
  return text;
}

std::string axis_path(std::string_view name) { return fmt::format("{}{}", kAxesPrefix, name); }

// What a config sets, by the first part of its key path.
std::vector<std::string> top_level_keys() {
  std::set<std::string> keys;
  for (const FieldRecord& field : list_fields(RunConfig())) {
    keys.insert(field.path.substr(0, field.path.find('.')));
  }
  return {keys.begin(), keys.end()};
}

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('.')); }

bool is_setting(std::string_view path) { return std::ranges::count(top_level_keys(), first_part(path)) > 0; }

std::string read_description(const ConfigNode& node) {
  if (node.kind != Kind::kScalar || node.text.find('\n') != std::string::npos) {
    throw config_error(node.location, "description",
                       fmt::format("got {}; allowed: one line", short_text(node)));
  }
  return node.text;
}

AxisValue read_variant(const std::string& place, const ConfigNode& node) {
  const ConfigEntry* const label = node.kind == Kind::kMap ? node.find("label") : nullptr;
  if (!label || label->value.kind != Kind::kScalar || label->value.text.empty() || node.entries.size() < 2) {
    throw config_error(node.location, place,
                       fmt::format("got {}; allowed: a variant, such as {{label: wide, model.width: 512}}",
                                   short_text(node)));
  }
  AxisValue variant{.label = label->value.text, .settings = {}};
  for (const ConfigEntry& entry : node.entries) {
    if (&entry != label) variant.settings.push_back({.path = entry.key, .value = entry.value});
  }
  return variant;
}

Axis read_variants(const std::string& name, const ConfigLocation& location, const ConfigNode& node) {
  const std::string place = axis_path(name);
  if (is_setting(name)) {
    throw config_error(location, place,
                       "is a setting; named variants need an axis with a name of its own, such as 'variant'");
  }
  if (!std::ranges::all_of(name, is_name_character)) {
    throw config_error(location, place, "allowed: letters, digits, '.', '_', '-'");
  }
  Axis axis{.name = name, .location = location, .values = {}};
  for (const ConfigNode& item : node.items) {
    AxisValue variant = read_variant(place, item);
    if (std::ranges::count(axis.values, variant.label, &AxisValue::label)) {
      throw config_error(item.location, place, fmt::format("two variants are called '{}'", variant.label));
    }
    axis.values.push_back(std::move(variant));
  }
  return axis;
}

// Throws for a value that is listed twice.
void check_are_distinct(const Axis& axis) {
  std::set<std::string> seen;
  for (const AxisValue& value : axis.values) {
    const ConfigNode& node = value.settings.front().value;
    if (node.kind == Kind::kScalar && !seen.insert(node.text).second) {
      throw config_error(node.location, axis_path(axis.name),
                         fmt::format("{} is listed twice; keep one of them", short_text(node)));
    }
  }
}

// A list of values, a range of whole numbers, or a list of named variants.
Axis read_axis(const std::string& name, const ConfigLocation& location, const ConfigNode& node) {
  Axis axis{.name = name, .location = location, .values = {}};
  const auto add = [&](const ConfigNode& value) {
    axis.values.push_back({.label = "", .settings = {{.path = name, .value = value}}});
  };
  if (node.kind == Kind::kSequence && !node.items.empty()) {
    const ConfigNode& first = node.items.front();
    if (first.find("label") != nullptr || (!is_setting(name) && first.kind == Kind::kMap)) {
      return read_variants(name, location, node);
    }
    for (const ConfigNode& item : node.items) {
      const std::size_t dots = item.kind == Kind::kScalar ? item.text.find("..") : std::string::npos;
      if (dots != std::string::npos && parse_integer(item.text.substr(0, dots)) &&
          parse_integer(item.text.substr(dots + 2))) {
        throw config_error(item.location, axis_path(name),
                           fmt::format("got {}; write a range as {}: {}:{}", short_text(node), name,
                                       item.text.substr(0, dots), item.text.substr(dots + 2)));
      }
      add(item);
    }
    check_are_distinct(axis);
    return axis;
  }
  const auto range = node.kind == Kind::kScalar ? parse_integer_range(node.text) : std::nullopt;
  if (!range) {
    throw config_error(
        node.location, axis_path(name),
        fmt::format("got {}; allowed: a list of values, such as [0, 1], or a range of whole numbers, {}",
                    short_text(node), kIntegerRangeForms));
  }
  const auto values = range->values(kMaxRuns);
  if (!values) refuse_too_many(location);
  for (const std::int64_t value : *values) {
    ConfigNode number = node;
    number.text = std::to_string(value);
    add(number);
  }
  return axis;
}

SweepPlan read_config_part(const ConfigNode& root) {
  for (const ConfigEntry& entry : root.entries) {
    if (!is_setting(entry.key) || entry.key == "name") continue;
    throw config_error(
        entry.location, entry.key,
        fmt::format("belongs into base, which has the settings of all runs: base.{}", entry.key));
  }
  if (root.find("version") && root.find("level")) {
    throw config_error(
        root.location, "",
        "defines a task, no experiment; `che list task FILE` shows it, and a config trains on it "
        "as task: {file: PATH}");
  }
  if (const ConfigEntry* const variants = root.find("variants")) {
    throw config_error(variants->location, "variants",
                       "named variants are an axis with a name of its own: axes: {form: [{label: small, "
                       "model.width: 64}, ...]}");
  }
  check_config_keys(root);
  SweepPlan plan;
  plan.file = {root.location.source, 0, 0};
  const ConfigEntry* const name = root.find("name");
  if (!name) throw config_error(plan.file, "name", "is missing; results go to a folder of that name");
  plan.name = read_name(name->value);
  if (const ConfigEntry* const description = root.find("description")) {
    plan.description = read_description(description->value);
  }
  if (const ConfigEntry* const base = root.find("base")) plan.bases.push_back(base->value);
  if (const ConfigEntry* const axes = root.find("axes")) {
    if (axes->value.kind != Kind::kMap) {
      throw config_error(axes->value.location, "axes",
                         fmt::format("got {}; allowed: {}", short_text(axes->value), kAllowedAxes));
    }
    for (const ConfigEntry& entry : axes->value.entries) {
      plan.axes.push_back(read_axis(entry.key, entry.location, entry.value));
    }
  }
  return plan;
}

// Throws for two overrides of one key path. `values` has those before by key path.
void check_is_first(const Setting& setting, std::map<std::string, std::string>& values) {
  const std::string key =
      setting.path.starts_with(kAxesPrefix) ? setting.path.substr(kAxesPrefix.size()) : setting.path;
  const std::string text = fmt::format("{}={}", one_line(setting.path), short_text(setting.value));
  const auto [first, is_new] = values.emplace(key, text);
  if (is_new) return;
  throw config_error(setting.value.location, setting.path,
                     fmt::format("is set twice, by {} and by {}; keep one of them", first->second, text));
}

// The error for a list or a range as the value of a setting that takes one.
Error list_error(const Setting& setting) {
  const std::string key = one_line(setting.path);
  if (!is_setting(setting.path)) {
    return config_error(setting.value.location, setting.path,
                        "unknown key" + known_names_hint(first_part(setting.path), top_level_keys()));
  }
  return config_error(setting.value.location, setting.path,
                      fmt::format("got {0}; an override sets one value; axes.{1}={0} sweeps over several",
                                  short_text(setting.value), key));
}

// Whether an axis may have several values of what is at this key path: runs that differ in settings of
// evaluation or execution alone would be one, but for bf16.
bool may_be_swept(std::string_view path) {
  const std::vector<FieldRecord> fields = list_fields(RunConfig());
  return std::ranges::count(fields, path, &FieldRecord::path) > 0 && !is_below(path, "evaluation") &&
         (!is_below(path, "execution") || path == "execution.precision");
}

// Overrides of whole axes come first, so that a single value for an axis' key finds it.
void add_overrides(SweepPlan& plan, const std::vector<std::string>& overrides) {
  std::vector<Setting> plain;
  std::map<std::string, std::string> values;
  const auto axis_of = [&](std::string_view path) { return std::ranges::find(plan.axes, path, &Axis::name); };
  for (const std::string& text : overrides) {
    Setting setting = parse_override(text, "training.steps=100");
    if (setting.path == "axes") {
      throw config_error(setting.value.location, "axes",
                         "name one axis, such as axes.seed=[0, 1]; the others stay as they are");
    }
    if (is_below(setting.path, "exclude")) {
      throw config_error(setting.value.location, setting.path,
                         "stands only in the config; --only chooses among the runs on the command line");
    }
    if (setting.path.starts_with(kAxesPrefix)) {
      Axis axis = read_axis(setting.path.substr(kAxesPrefix.size()), setting.value.location, setting.value);
      setting.path = axis_path(axis.name);
      check_is_first(setting, values);
      const auto existing = axis_of(axis.name);
      if (existing != plan.axes.end()) {
        *existing = std::move(axis);
      } else {
        plan.axes.push_back(std::move(axis));
      }
      continue;
    }
    check_is_first(setting, values);
    if (setting.path == "name") {
      plan.name = read_name(setting.value);
    } else if (setting.path == "description") {
      plan.description = read_description(setting.value);
    } else {
      plain.push_back(std::move(setting));
    }
  }
  RunConfig defaults;
  const std::vector<std::string> lists = list_valued_fields(fields_of(defaults));
  for (Setting& setting : plain) {
    if (setting.value.kind == Kind::kSequence && !std::ranges::count(lists, setting.path)) {
      throw list_error(setting);
    }
    const auto axis = axis_of(setting.path);
    const bool is_range =
        setting.value.kind == Kind::kScalar && parse_integer_range(setting.value.text).has_value();
    if (is_range && may_be_swept(setting.path)) throw list_error(setting);
    if (axis == plan.axes.end()) {
      plan.overrides.push_back(std::move(setting));
      continue;
    }
    if (axis->has_variants()) {
      throw config_error(setting.value.location, setting.path,
                         fmt::format("names variants; choose among them with --only {}=LABEL", setting.path));
    }
    axis->is_override = true;
    axis->location = setting.value.location;
    axis->values = {{.label = "", .settings = {std::move(setting)}}};
  }
}

VariantAxes variant_axes(const SweepPlan& plan) {
  VariantAxes axes;
  for (const Axis& axis : plan.axes) {
    if (!axis.has_variants()) continue;
    for (const AxisValue& value : axis.values) axes[axis.name].push_back(value.label);
  }
  return axes;
}

std::size_t count_values(const ConfigNode& node) {
  if (node.kind == Kind::kSequence) return node.items.size();
  const auto range = node.kind == Kind::kScalar ? parse_integer_range(node.text) : std::nullopt;
  const auto values = range ? range->values(kMaxRuns) : std::nullopt;
  return values ? values->size() : 1;
}

void add_exclusions(SweepPlan& plan, const ConfigNode& node) {
  if (node.kind != Kind::kSequence) {
    throw config_error(
        node.location, "exclude",
        fmt::format("got {}; allowed: a list of maps, such as [{{task: parity_check, seed: 1}}]",
                    short_text(node)));
  }
  // Every run is asked about every key, and tries values until one run could have them.
  const VariantAxes variants = variant_axes(plan);
  std::size_t keys = 0;
  std::size_t values = 0;
  for (const ConfigNode& map : node.items) {
    keys += map.entries.size();
    for (const ConfigEntry& entry : map.entries) values += count_values(entry.value);
    if (keys > kMaxExcludeKeys || values > kMaxRuns) {
      throw config_error(map.location, "exclude",
                         fmt::format("more than {} keys, or {} values, in all; a key takes a list or a range",
                                     kMaxExcludeKeys, kMaxRuns));
    }
    plan.exclude.emplace_back(map, "exclude", variants);
  }
}

}  // namespace

std::size_t SweepPlan::count() const {
  std::size_t runs = 1;
  for (const Axis& axis : axes) {
    if (axis.values.size() > kMaxRuns / runs) refuse_too_many(axis.location);
    runs *= axis.values.size();
  }
  return runs;
}

std::vector<const AxisValue*> SweepPlan::choices(std::size_t run) const {
  std::vector<const AxisValue*> choices(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    choices[i] = &axes[i].values[run % axes[i].values.size()];
    run /= axes[i].values.size();
  }
  return choices;
}

std::vector<RunSetting> SweepPlan::settings(std::size_t run) const {
  const auto rank = [](const RunSetting& setting) { return setting_rank(*setting.setting); };
  std::vector<RunSetting> of_axes;
  const std::vector<const AxisValue*> chosen = choices(run);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (const Setting& setting : chosen[i]->settings) of_axes.push_back({&setting, &axes[i], chosen[i]});
  }
  std::ranges::stable_sort(of_axes, {}, rank);
  std::vector<RunSetting> of_overrides(overrides.size());
  std::ranges::transform(overrides, of_overrides.begin(),
                         [](const Setting& one) { return RunSetting{&one}; });
  std::ranges::stable_sort(of_overrides, {}, rank);
  // An axis of a part stands behind an override of the whole (encoding=rope), which replaces variants.
  const auto is_first = [&](const RunSetting& setting) {
    return setting.axis->has_variants() || std::ranges::none_of(overrides, [&](const Setting& whole) {
             return setting.setting->path != whole.path && is_below(setting.setting->path, whole.path);
           });
  };
  const auto parts = std::stable_partition(of_axes.begin(), of_axes.end(), is_first);
  of_axes.insert(parts, of_overrides.begin(), of_overrides.end());
  return of_axes;
}

VariantLabels SweepPlan::labels(std::size_t run) const {
  VariantLabels labels;
  const std::vector<const AxisValue*> chosen = choices(run);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].has_variants()) labels.emplace(axes[i].name, chosen[i]->label);
  }
  return labels;
}

std::string SweepPlan::describe(std::size_t run) const {
  std::string text;
  const std::vector<const AxisValue*> chosen = choices(run);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += fmt::format(
        "{}{}={}", text.empty() ? " (" : ", ", one_line(axes[i].name),
        axes[i].has_variants() ? one_line(chosen[i]->label) : short_text(chosen[i]->settings.front().value));
  }
  return text.empty() ? text : text + ")";
}

SweepPlan read_sweep_plan(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                          const RunConditions& conditions) {
  const ConfigNode root = read_config(path);
  SweepPlan plan = read_config_part(root);
  for (ConfigFile& extended : files_extended_by(root, path)) {
    plan.extends.push_back(std::move(extended.path));
    if (const ConfigEntry* const base = extended.root.find("base"))
      plan.bases.insert(plan.bases.begin(), base->value);
  }
  add_overrides(plan, overrides);
  if (const ConfigEntry* const exclude = root.find("exclude")) add_exclusions(plan, exclude->value);
  plan.chosen_by = filters_of(conditions, variant_axes(plan));
  return plan;
}

}  // namespace che
