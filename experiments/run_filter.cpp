#include "experiments/run_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/config_reader.h"
#include "core/integer_range.h"
#include "core/suggestion.h"

namespace che {
namespace {

using Kind = ConfigNode::Kind;

constexpr std::int64_t kMaxValues = 100'000;

// The values that a condition lists: one, a list of them, or a range of whole numbers.
std::vector<ConfigNode> listed_values(const ConfigNode& node, const std::string& path) {
  if (node.kind == Kind::kSequence && !node.items.empty()) return node.items;
  if (node.kind == Kind::kNull || node.kind == Kind::kSequence) {
    throw config_error(
        node.location, path,
        fmt::format("got {}; allowed: a value, a list of values, or a range such as 0:4", short_text(node)));
  }
  const auto range = node.kind == Kind::kScalar ? parse_integer_range(node.text) : std::nullopt;
  if (!range) return {node};
  const auto numbers = range->values(kMaxValues);
  if (!numbers) throw config_error(node.location, path, fmt::format("more than {} values", kMaxValues));
  std::vector<ConfigNode> values;
  for (const std::int64_t number : *numbers) {
    values.push_back(node);
    values.back().text = std::to_string(number);
  }
  return values;
}

}  // namespace

RunFilter::RunFilter(const ConfigNode& map, std::string_view path, const VariantAxes& variants) {
  if (map.kind != Kind::kMap || map.entries.empty()) {
    throw config_error(map.location, path,
                       fmt::format("got {}; allowed: a map of key paths to values, such as {{task: "
                                   "parity_check, seed: [0, 1]}}",
                                   short_text(map)));
  }
  for (const ConfigEntry& entry : map.entries) {
    const std::string place = path.empty() ? entry.key : fmt::format("{}.{}", path, entry.key);
    const auto axis = variants.find(entry.key);
    Condition& condition = conditions_.emplace_back();
    condition.key = entry.key;
    condition.is_variant = axis != variants.end();
    for (const ConfigNode& node : listed_values(entry.value, place)) {
      if (condition.is_variant &&
          (node.kind != Kind::kScalar || !std::ranges::count(axis->second, node.text))) {
        throw config_error(
            node.location, place,
            fmt::format("unknown variant {}{}", short_text(node), known_names_hint(node.text, axis->second)));
      }
      condition.values.push_back({.node = node});
    }
  }
}

bool RunFilter::holds(Value& value, const std::string& key, const RunConfig& run, const std::string& yaml) {
  RunConfig assigned = run;
  try {
    assign_path(key, value.node, [&](FieldVisitor& visitor) { assigned.visit_fields(visitor); });
  } catch (const Error& error) {  // Perhaps this run alone has no such setting.
    if (!value.problem) value.problem = error;
    return false;
  }
  value.made_sense = true;
  // A name alone stands for all forms of what it names, whatever their settings.
  if (value.node.kind == Kind::kScalar && key == "task") return assigned.task.name == run.task.name;
  if (value.node.kind == Kind::kScalar && key == "encoding") {
    return assigned.encoding.shorthand() == run.encoding.shorthand();
  }
  return to_yaml(assigned) == yaml;
}

bool RunFilter::matches(const RunConfig& run, const VariantLabels& labels) {
  const std::string yaml = to_yaml(run);
  bool all = true;
  for (Condition& condition : conditions_) {
    bool any = false;
    for (Value& value : condition.values) {
      any |= condition.is_variant ? labels.at(condition.key) == value.node.text
                                  : holds(value, condition.key, run, yaml);
    }
    all &= any;
  }
  return all;
}

void RunFilter::check_made_sense() const {
  for (const Condition& condition : conditions_) {
    for (const Value& value : condition.values) {
      if (value.problem && !value.made_sense) throw Error(*value.problem);
    }
  }
}

}  // namespace che
