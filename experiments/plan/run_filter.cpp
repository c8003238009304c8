#include "experiments/plan/run_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/config/reader.h"
#include "core/integer_range.h"
#include "core/suggestion.h"
#include "experiments/plan/exact_lengths.h"
#include "experiments/plan/task_files.h"

namespace che {
namespace {

using Kind = ConfigNode::Kind;

// How --only names the variants that `label` may be the label of; else some setting.
std::string filter_example(const VariantAxes& variants, const std::string& label) {
  for (const auto& [axis, labels] : variants) {
    if (std::ranges::count(labels, label)) return fmt::format("--only {}={}", axis, label);
  }
  return "--only task=parity_check";
}

// The values that a condition lists: one, a list of them, or a range of whole numbers. Labels of variants
// may hold a comma, settings do not.
std::vector<ConfigNode> listed_values(const ConfigNode& node, const std::string& path, bool is_variant) {
  if (node.kind == Kind::kSequence && !node.items.empty()) return node.items;
  if (node.kind == Kind::kNull || node.kind == Kind::kSequence) {
    throw config_error(
        node.location, path,
        fmt::format("got {}; allowed: a value, a list of values, or a range such as 0:4", short_text(node)));
  }
  const auto range = node.kind == Kind::kScalar ? parse_integer_range(node.text) : std::nullopt;
  if (!range) {
    const bool is_like_one = node.kind == Kind::kScalar && node.text.find(':') != std::string::npos &&
                             node.text.find_first_not_of("0123456789:") == std::string::npos;
    if (is_like_one) {
      throw config_error(node.location, path,
                         fmt::format("got {}; allowed: a range {}", short_text(node), kIntegerRangeForms));
    }
    if (!is_variant && node.kind == Kind::kScalar && node.text.find(',') != std::string::npos) {
      throw config_error(
          node.location, path,
          fmt::format("got {0}; allowed: one value, or several in brackets: [{0}]", short_text(node)));
    }
    return {node};
  }
  const auto numbers = range->values(static_cast<std::int64_t>(kMaxRuns));
  if (!numbers) {
    throw config_error(node.location, path,
                       fmt::format("{} are more than {} values, which is as many as a config may have runs; "
                                   "narrow the range to the values of its axis",
                                   short_text(node), kMaxRuns));
  }
  std::vector<ConfigNode> values;
  for (const std::int64_t number : *numbers) {
    values.push_back(node);
    values.back().text = std::to_string(number);
  }
  return values;
}

bool is_single(const ConfigNode& value) { return value.kind == Kind::kScalar; }

// The nearest of the names of tasks that files declare and that runs of these structures have, where no
// registered task is nearer to what a condition has in their place; else empty.
template <class ByStructure>
std::string nearest_declared_task(const ConfigNode& value, const ByStructure& structures) {
  constexpr std::string_view kName = "task.name=";
  const std::vector<std::string> registered = Registry<TaskEntry>::instance().names();
  std::vector<std::string> known = registered;
  for (const auto& [structure, held] : structures) {
    const std::size_t at = structure.find(kName);
    if (at == std::string::npos) continue;
    const std::size_t from = at + kName.size();
    known.push_back(structure.substr(from, structure.find('\n', from) - from));
  }
  std::string nearest = is_single(value) ? closest_name(value.text, known) : "";
  return std::ranges::count(registered, nearest) > 0 ? "" : nearest;
}

// What a config with these fields has at a key path and below it. A mere name stands for all forms of what it
// names, whatever their settings.
std::string held_text(const RunConfig& config, const std::vector<FieldRecord>& fields, const std::string& key,
                      bool single) {
  if (single && key == "task") return config.task.name;
  if (single && key == "encoding") return config.encoding.form().text();
  std::string text;
  for (const FieldRecord& field : fields) {
    if (is_below(field.path, key)) text += fmt::format("{}={}\n", field.path, field.value);
  }
  return text;
}

constexpr std::size_t kMaxHeld = 20;  // Values that a message names.

// What a run has at a key path, as a message shows it; empty for a path that is more than one setting.
std::string value_text(const AskedRun& run, const std::string& key) {
  if (key == "task") return run.config.task.name;
  if (key == "encoding") return run.config.encoding.form().text();
  const auto field = std::ranges::find(run.fields, key, &FieldRecord::path);
  return field == run.fields.end() ? "" : field->value;
}

// The structural fields below the first part of a key path.
std::string structure_around(const std::string& key, const std::vector<FieldRecord>& fields) {
  const std::string_view root = std::string_view(key).substr(0, key.find('.'));
  std::string structure;
  for (const FieldRecord& field : fields) {
    if (field.structural && is_below(field.path, root)) {
      structure += fmt::format("{}={}\n", field.path, field.value);
    }
  }
  return structure;
}

}  // namespace

Setting parse_override(const std::string& text, std::string_view example) {
  Setting setting = parse_setting(text, example);
  if (setting.path == "base" || setting.path.starts_with("base.")) {
    throw config_error(setting.value.location, setting.path,
                       "key paths on the command line leave out 'base.'");
  }
  replace_task_files(setting);
  return setting;
}

std::vector<RunFilter> filters_of(const std::vector<std::string>& conditions, const VariantAxes& variants) {
  std::vector<RunFilter> filters;
  for (const std::string& text : conditions) {
    Setting setting = parse_override(text, filter_example(variants, text));
    constexpr std::string_view kAxes = "axes.";
    if (setting.path.starts_with(kAxes) && !variants.contains(setting.path)) {
      throw config_error(setting.value.location, setting.path,
                         fmt::format("--only names settings without 'axes.': {}={}",
                                     one_line(setting.path.substr(kAxes.size())), short_text(setting.value)));
    }
    ConfigNode map;
    map.kind = Kind::kMap;
    map.location = setting.value.location;
    map.entries.push_back({std::move(setting.path), map.location, std::move(setting.value)});
    filters.emplace_back(map, "", variants);
  }
  return filters;
}

AskedRun::AskedRun(const RunConfig& run, VariantLabels run_labels)
    : config(run), labels(std::move(run_labels)), fields(list_fields(run)) {}

RunFilter::RunFilter(const ConfigNode& map, std::string_view path, const VariantAxes& variants)
    : location_(map.location), prefix_(path.empty() ? "" : fmt::format("{}.", path)) {
  for (const auto& [axis, labels] : variants) variant_axes_.push_back(axis);
  const std::vector<FieldRecord> fields = list_fields(RunConfig());
  if (map.kind != Kind::kMap || map.entries.empty()) {
    throw config_error(map.location, path,
                       fmt::format("got {}; allowed: a map of key paths to values, such as {{task: "
                                   "parity_check, seed: [0, 1]}}",
                                   short_text(map)));
  }
  for (const ConfigEntry& entry : map.entries) {
    const std::string place = prefix_ + entry.key;
    const auto axis = variants.find(entry.key);
    Condition& condition = conditions_.emplace_back();
    condition.is_variant = axis != variants.end();
    condition.key = entry.key;
    const std::string_view root = std::string_view(condition.key).substr(0, condition.key.find('.'));
    condition.is_setting =
        std::ranges::any_of(fields, [&](const FieldRecord& field) { return is_below(field.path, root); });
    condition.is_list = entry.value.kind == Kind::kSequence;
    for (const ConfigNode& node : listed_values(entry.value, place, condition.is_variant)) {
      if (condition.is_variant &&
          (node.kind != Kind::kScalar || !std::ranges::count(axis->second, node.text))) {
        throw config_error(
            node.location, place,
            fmt::format("unknown variant {}{}", short_text(node), known_names_hint(node.text, axis->second)));
      }
      condition.values.push_back({.node = node});
      condition.has_maps |= !is_single(node);
    }
  }
}

bool RunFilter::holds(Condition& condition, const AskedRun& run) {
  const std::string& key = condition.key;
  // A model outside che has no encoding and stands in the encodings' place.
  if (key == "encoding" && run.config.is_foreign()) {
    bool is_named = false;
    for (Value& value : condition.values) {
      const bool is_this = is_single(value.node) && value.node.text == run.config.foreign_model;
      value.made_sense |= is_this;
      value.is_held |= is_this;
      is_named |= is_this;
    }
    return is_named;
  }
  // What the run would hold with the value; nothing where this run has no such setting.
  const auto text_with = [&](Value& value) -> std::optional<std::string> {
    RunConfig assigned = run.config;
    try {
      assign_path(key, value.node, fields_of(assigned), prefix_);
    } catch (const Error& error) {
      if (!value.problem) value.problem = error;
      return std::nullopt;
    }
    value.made_sense = true;
    return held_text(assigned, list_fields(assigned), key, is_single(value.node));
  };
  const std::string structure = structure_around(key, run.fields);
  const auto [known, is_new] = condition.held_by_structure.try_emplace(structure);
  if (is_new) {
    const bool has_key =
        std::ranges::any_of(run.fields, [&](const FieldRecord& field) { return is_below(field.path, key); });
    for (std::size_t i = 0; i < condition.values.size(); ++i) {
      Value& value = condition.values[i];
      if (!is_single(value.node)) continue;
      if (const auto text = text_with(value)) known->second[*text].push_back(i);
      if (!has_key) break;  // One value tells why no value fits.
    }
  }
  if (const auto held = known->second.find(held_text(run.config, run.fields, key, true));
      held != known->second.end()) {
    for (const std::size_t i : held->second) condition.values[i].is_held = true;
    return true;
  }
  if (!condition.has_maps) return false;
  // A map may leave a part of what the run has as it is.
  const std::string own = held_text(run.config, run.fields, key, false);
  const auto [by_map, is_new_text] = condition.maps_hold.try_emplace(structure + own, false);
  if (is_new_text) {
    for (Value& value : condition.values) {
      if (!is_single(value.node)) by_map->second |= text_with(value) == own;
    }
  }
  return by_map->second;
}

bool RunFilter::matches(Condition& condition, const AskedRun& run) {
  if (condition.is_variant) {
    return std::ranges::any_of(condition.values, [&](const Value& value) {
      return run.labels.at(condition.key) == value.node.text;
    });
  }
  if (holds(condition, run)) return true;
  if (!is_below(condition.key, "evaluation")) return false;
  // Or as tables show the test lengths.
  RunConfig exact = run.config;
  exact.evaluation = with_exact_lengths(exact.evaluation);
  return holds(condition, AskedRun(exact, run.labels));
}

bool RunFilter::matches(const AskedRun& run) {
  bool all = true;
  for (Condition& condition : conditions_) all &= matches(condition, run);
  has_matched_ |= all;
  return all;
}

std::string RunFilter::held_instead(const std::vector<RunConfig>& runs) {
  for (Condition& condition : conditions_) {
    // Every label of a variant is that of some run; of a map it is not said which part differs.
    if (condition.is_variant || condition.has_maps) continue;
    std::vector<std::string> held;
    const bool has_match = std::ranges::any_of(runs, [&](const RunConfig& run) {
      const AskedRun asked(run, {});
      std::string text = value_text(asked, condition.key);
      if (!text.empty() && !std::ranges::count(held, text)) held.push_back(std::move(text));
      return matches(condition, asked);
    });
    if (has_match || held.empty()) continue;
    const std::size_t shown = std::min(held.size(), kMaxHeld);
    const auto end = held.begin() + static_cast<std::ptrdiff_t>(shown);
    return fmt::format("{} is {}{}", condition.key, fmt::join(held.begin(), end, ", "),
                       shown < held.size() ? ", ..." : "");
  }
  return "";
}

std::vector<std::string> RunFilter::unheld_values() const {
  std::vector<std::string> unheld;
  for (const Condition& condition : conditions_) {
    if (!condition.is_list || condition.is_variant) continue;
    for (const Value& value : condition.values) {
      if (!is_single(value.node) || value.is_held) continue;
      unheld.push_back(fmt::format("{}={}", condition.key, value.node.text));
    }
  }
  return unheld;
}

void RunFilter::check_made_sense(std::string_view of_unknown_keys) const {
  for (const Condition& condition : conditions_) {
    for (const Value& value : condition.values) {
      if (!value.problem || value.made_sense) continue;
      if (condition.key == "task" || condition.key == "task.name") {
        const std::string task = nearest_declared_task(value.node, condition.held_by_structure);
        if (!task.empty()) {
          throw config_error(value.node.location, prefix_ + condition.key,
                             fmt::format("unknown task '{}'; did you mean '{}', which a file declares?",
                                         value.node.text, task));
        }
      }
      if (condition.is_setting) throw Error(*value.problem);
      if (variant_axes_.empty()) throw Error(value.problem->what() + std::string(of_unknown_keys));
      throw Error(fmt::format("{}; axes of named variants: {}", value.problem->what(),
                              fmt::join(variant_axes_, ", ")));
    }
  }
}

}  // namespace che
