#include "experiments/plan/run_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/config/reader.h"
#include "core/number_text.h"
#include "core/suggestion.h"
#include "tasks/declared/task_files.h"

namespace che {
namespace {

using Kind = ConfigNode::Kind;
constexpr std::string_view kLengths = "evaluation.lengths";
constexpr std::size_t kMaxHeld = 20;  // Values that a message names.

// How an option names the variants that `label` may be the label of; else some setting.
std::string filter_example(std::string_view option, const VariantAxes& variants, const std::string& label) {
  for (const auto& [axis, labels] : variants) {
    if (std::ranges::count(labels, label)) return fmt::format("{} {}={}", option, axis, label);
  }
  return fmt::format("{} task=parity_check", option);
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

// The values of a condition on a list: a list or a range is one of them.
std::vector<ConfigNode> listed_lists(const ConfigNode& node, const std::string& path) {
  std::vector<ConfigNode> items = listed_values(node, path, false);
  if (std::ranges::none_of(items, is_single)) return items;
  ConfigNode list = node;
  list.kind = Kind::kSequence;
  list.items = std::move(items);
  return {list};
}

// The name of a declared task in these structures that is the nearest to `value`; empty where a registered
// task is as near.
std::string nearest_declared_task(const ConfigNode& value, const std::set<std::string>& structures) {
  constexpr std::string_view kName = "task.name=";
  const std::vector<std::string> registered = Registry<TaskEntry>::instance().names();
  std::vector<std::string> known = registered;
  for (const std::string& structure : structures) {
    const std::size_t at = structure.find(kName);
    if (at == std::string::npos) continue;
    const std::size_t from = at + kName.size();
    known.push_back(structure.substr(from, structure.find('\n', from) - from));
  }
  std::string nearest = is_single(value) ? closest_name(value.text, known) : "";
  return std::ranges::count(registered, nearest) > 0 ? "" : nearest;
}

// Numbers in one way of writing.
std::string canonical(const std::string& text) {
  const auto number = parse_real(text);
  return number ? real_text(*number + 0.0) : text;  // A negative zero is zero.
}

// The value of a run at a key path, as messages show it: the mere name of a task or an encoding. Empty for a
// path that is more than one setting.
std::string value_text(const AskedRun& run, const std::string& key) {
  if (key == "task" || key == "text") return run.config.subject();
  if (key == "encoding") return run.config.column_form().text();
  const auto field = std::ranges::find(run.fields, key, &FieldRecord::path);
  return field == run.fields.end() || field->group ? "" : field->value;
}

// Everything that a config has at a key path and below it; of a task without its description.
std::string text_below(const std::vector<FieldRecord>& fields, const std::string& key) {
  std::string text;
  for (const FieldRecord& field : fields) {
    const bool changes_nothing = key == "task" && field.role == Role::kExecution;
    if (is_below(field.path, key) && !changes_nothing)
      text += fmt::format("{}={}\n", field.path, field.value);
  }
  return text;
}

bool is_same_corpus(const TextConfig& one, const TextConfig& other) {
  return one.name == other.name && one.hash == other.hash;
}

// Adds the numbers in a map that stands at `path`, by key path.
void add_numbers(const ConfigNode& map, const std::string& path, std::map<std::string, double>& numbers) {
  for (const ConfigEntry& entry : map.entries) {
    const std::string place = fmt::format("{}.{}", path, entry.key);
    add_numbers(entry.value, place, numbers);
    const auto number = is_single(entry.value) ? parse_real(entry.value.text) : std::nullopt;
    if (number) numbers.emplace(place, *number);
  }
}

std::map<std::string, double> numbers_below(const std::vector<FieldRecord>& fields, const std::string& key) {
  std::map<std::string, double> numbers;
  for (const FieldRecord& field : fields) {
    const auto number = is_below(field.path, key) ? parse_real(field.value) : std::nullopt;
    if (number) numbers.emplace(field.path, *number);
  }
  return numbers;
}

// Whether both have a number at one key path, and not the same.
bool differ(const std::map<std::string, double>& one, const std::map<std::string, double>& other) {
  return std::ranges::any_of(one, [&](const auto& number) {
    const auto found = other.find(number.first);
    return found != other.end() && found->second != number.second;
  });
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

std::vector<RunFilter> filters_of(const RunConditions& conditions, const VariantAxes& variants) {
  std::vector<RunFilter> filters;
  const auto add = [&](const std::string& text, bool is_skip) {
    const std::string_view option = is_skip ? "--skip" : "--only";
    Setting setting = parse_override(text, filter_example(option, variants, text));
    constexpr std::string_view kAxes = "axes.";
    if (setting.path.starts_with(kAxes) && !variants.contains(setting.path)) {
      throw config_error(setting.value.location, setting.path,
                         fmt::format("{} names settings without 'axes.': {}={}", option,
                                     one_line(setting.path.substr(kAxes.size())), short_text(setting.value)));
    }
    ConfigNode map;
    map.kind = Kind::kMap;
    map.location = setting.value.location;
    map.entries.push_back({std::move(setting.path), map.location, std::move(setting.value)});
    filters.emplace_back(map, "", variants).is_skip_ = is_skip;
  };
  for (const std::string& text : conditions.only) add(text, false);
  for (const std::string& text : conditions.skip) add(text, true);
  return filters;
}

AskedRun::AskedRun(const RunConfig& run, VariantLabels run_labels)
    : config(run), labels(std::move(run_labels)), fields(list_fields(run)) {}

struct AskedRun::Exact {
  Exact(RunConfig exact, const VariantLabels& labels) : config(std::move(exact)), asked(config, labels) {}

  RunConfig config;
  AskedRun asked;
};

const AskedRun* AskedRun::with_exact_lengths() const {
  if (!exact_) {
    const auto form = [](const EvaluationConfig& evaluation) {
      return std::tie(evaluation.listed_lengths, evaluation.first_length, evaluation.last_length,
                      evaluation.length_step);
    };
    RunConfig exact = config;
    exact.evaluation = che::with_exact_lengths(config.evaluation);
    const bool is_same = form(exact.evaluation) == form(config.evaluation);
    exact_ = is_same ? nullptr : std::make_shared<const Exact>(std::move(exact), labels);
  }
  return *exact_ ? &(*exact_)->asked : nullptr;
}

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
    const bool takes_list = condition.key == kLengths || condition.key == "evaluation.at_steps";
    for (const ConfigNode& node : takes_list ? listed_lists(entry.value, place)
                                             : listed_values(entry.value, place, condition.is_variant)) {
      if (condition.is_variant &&
          (node.kind != Kind::kScalar || !std::ranges::count(axis->second, node.text))) {
        throw config_error(
            node.location, place,
            fmt::format("unknown variant {}{}", short_text(node), known_names_hint(node.text, axis->second)));
      }
      if (is_single(node)) condition.singles.emplace(canonical(node.text), condition.values.size());
      add_numbers(node, condition.key, condition.values.emplace_back(Value{.node = node}).numbers);
    }
  }
}

// Notes which values a run with this structure could have, and what is wrong with the others.
void RunFilter::try_values(Condition& condition, const AskedRun& run) {
  // A model outside che has no encoding and stands in the encodings' place.
  if (condition.key == "encoding" && run.config.is_foreign()) return;
  const bool has_key = std::ranges::any_of(
      run.fields, [&](const FieldRecord& field) { return is_below(field.path, condition.key); });
  const std::string structure = structure_around(condition.key, run.fields);
  if (!condition.structures.insert(has_key ? structure : structure + "absent").second) return;
  for (Value& value : condition.values) {
    if (value.made_sense) continue;
    try {
      RunConfig assigned = run.config;
      assign_path(condition.key, value.node, fields_of(assigned), prefix_);
      value.made_sense = true;
    } catch (const Error& error) {
      if (!value.problem) value.problem = error;
    }
    // One value tells why no single value fits.
    if (!has_key && is_single(value.node)) break;
  }
}

bool RunFilter::holds(Condition& condition, const AskedRun& run) {
  const std::string& key = condition.key;
  try_values(condition, run);
  const std::string held = value_text(run, key);
  const auto is_number = [&](const FieldRecord& field) { return field.path == key && field.number; };
  const bool is_name = std::ranges::none_of(run.fields, is_number);  // It may look like a number.
  bool is_single_held = false;
  const auto [first, last] = condition.singles.equal_range(canonical(held));
  for (auto single = first; single != last; ++single) {
    Value& value = condition.values[single->second];
    if (held.empty() || (is_name && value.node.text != held)) continue;
    is_single_held = value.is_held = value.made_sense = true;  // It may be a corpus that is elsewhere.
  }
  // A map may leave a part of what the run has as it is, and a corpus has its name and that of its folder.
  if (key != "text" && condition.singles.size() == condition.values.size()) return is_single_held;
  const bool is_lengths = key == kLengths;  // A run may have them as a range.
  const std::string own = is_lengths ? lengths_text(run.config.evaluation) : text_below(run.fields, key);
  const auto [by_map, is_new] = condition.maps_hold.try_emplace(own, false);
  if (!is_new) return is_single_held || by_map->second;
  const std::map<std::string, double> numbers = numbers_below(run.fields, key);
  for (Value& value : condition.values) {
    if ((key != "text" && is_single(value.node)) || differ(value.numbers, numbers)) continue;
    try {
      RunConfig assigned = run.config;
      assign_path(key, value.node, fields_of(assigned), prefix_);
      const bool is_held = is_lengths              ? lengths_text(assigned.evaluation) == own
                           : is_single(value.node) ? is_same_corpus(assigned.text, run.config.text)
                                                   : text_below(list_fields(assigned), key) == own;
      value.is_held |= is_held;
      by_map->second |= is_held;
    } catch (const Error&) {  // try_values has noted it.
    }
  }
  return is_single_held || by_map->second;
}

bool RunFilter::matches(Condition& condition, const AskedRun& run) {
  if (condition.is_variant) {
    const std::string& label = run.labels.at(condition.key);
    return std::ranges::any_of(condition.values,
                               [&](const Value& value) { return value.node.text == label; });
  }
  if (holds(condition, run)) return true;
  if (!is_below(condition.key, "evaluation")) return false;
  const AskedRun* const exact = run.with_exact_lengths();
  return exact != nullptr && holds(condition, *exact);
}

bool RunFilter::matches(const AskedRun& run) {
  bool all = true;
  for (Condition& condition : conditions_) all &= matches(condition, run);
  has_matched_ |= all;
  return all;
}

std::string RunFilter::held_instead(const std::vector<RunConfig>& runs) {
  if (is_skip_) return "";  // A column that --skip leaves out exists.
  for (Condition& condition : conditions_) {
    // Every label of a variant is that of some run; of a map it is not said which part differs.
    if (condition.is_variant || condition.singles.size() < condition.values.size()) continue;
    std::vector<std::string> held;
    const bool has_match = std::ranges::any_of(runs, [&](const RunConfig& run) {
      const AskedRun asked(run, {});
      std::string text = value_text(asked, condition.key);
      if (!text.empty() && !std::ranges::count(held, text)) held.push_back(std::move(text));
      return matches(condition, asked);
    });
    if (has_match || held.empty()) continue;
    const auto end = held.begin() + static_cast<std::ptrdiff_t>(std::min(held.size(), kMaxHeld));
    return fmt::format("{} is {}{}", condition.key, fmt::join(held.begin(), end, ", "),
                       end != held.end() ? ", ..." : "");
  }
  return "";
}

std::vector<std::string> RunFilter::unheld_values() const {
  std::vector<std::string> unheld;
  for (const Condition& condition : conditions_) {
    if (!condition.is_list || condition.is_variant) continue;
    for (const Value& value : condition.values) {
      if (!value.is_held) unheld.push_back(fmt::format("{}={}", condition.key, short_text(value.node)));
    }
  }
  if (!is_skip_ || has_matched_ || !unheld.empty()) return unheld;
  for (const Condition& condition : conditions_) {
    const std::string first = short_text(condition.values.front().node);
    const std::string last = short_text(condition.values.back().node);
    unheld.push_back(first == last ? fmt::format("{}={}", condition.key, first)
                                   : fmt::format("{}={} to {}", condition.key, first, last));
  }
  return unheld;
}

void RunFilter::check_made_sense(std::string_view of_unknown_keys) const {
  for (const Condition& condition : conditions_) {
    for (const Value& value : condition.values) {
      if (!value.problem || value.made_sense) continue;
      if (condition.key == "task" || condition.key == "task.name") {
        const std::string task = nearest_declared_task(value.node, condition.structures);
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

std::string options_text(const std::vector<RunFilter>& filters) {
  std::set<std::string_view> options;
  for (const RunFilter& filter : filters) options.insert(filter.option());
  return fmt::format("{}", fmt::join(options, " and "));
}

}  // namespace che
