#include "experiments/plan/evaluation_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/config/field_list.h"
#include "core/config/node.h"
#include "core/config/reader.h"

namespace che {
namespace {

// A part of a run that has such settings, and the same part at its defaults.
struct EvaluatedPart {
  std::string name;  // The encoding's, the model's or the text's.
  std::string group;
  FieldVisitor::Members fields;
  FieldVisitor::Members defaults;
};

std::vector<EvaluatedPart> evaluated_parts(RunConfig& config, RunConfig& defaults) {
  std::vector<EvaluatedPart> parts;
  if (config.model.entry().takes_encoding) {
    defaults.encoding = config.encoding.with_defaults();
    parts.push_back(
        {config.encoding.name, "encoding", fields_of(config.encoding), fields_of(defaults.encoding)});
  } else {
    defaults.model.kind = config.model.kind;
    parts.push_back({config.model.kind, "model", fields_of(config.model), fields_of(defaults.model)});
  }
  if (config.has_text()) {
    // Aligned windows depend on it, so that rows have it as a number.
    TextEvaluation& text = config.evaluation.text;
    text.longest = text.windows == WindowChoice::kAligned ? longest_window(config.evaluation) : 0;
    parts.push_back({config.text.name, "evaluation", fields_of(config.evaluation.text),
                     fields_of(defaults.evaluation.text)});
  }
  return parts;
}

// Lists the settings of `fields` that only evaluation reads.
OptionValues of_evaluation(const std::vector<FieldRecord>& fields) {
  OptionValues settings;
  for (const FieldRecord& field : fields) {
    if (field.role == Role::kEvaluation) settings.emplace(field.path, field.value);
  }
  return settings;
}

}  // namespace

OptionValues evaluation_settings(const RunConfig& config) {
  RunConfig copy = config;
  RunConfig defaults;
  OptionValues settings;
  for (const EvaluatedPart& part : evaluated_parts(copy, defaults)) {
    settings.merge(of_evaluation(distinct_fields(part.fields, part.defaults)));
  }
  return settings;
}

bool has_evaluation_settings(const RunConfig& config, const OptionValues& settings) {
  RunConfig copy = config;
  RunConfig defaults;
  OptionValues known;
  for (const EvaluatedPart& part : evaluated_parts(copy, defaults))
    known.merge(of_evaluation(list_fields(part.fields)));
  return std::ranges::all_of(settings, [&](const auto& setting) { return known.contains(setting.first); });
}

RunConfig with_evaluation_settings(const RunConfig& config, const OptionValues& settings) {
  RunConfig changed = config;
  RunConfig defaults;
  const std::vector<EvaluatedPart> parts = evaluated_parts(changed, defaults);
  std::map<std::string, std::pair<std::string, const EvaluatedPart*>> values;
  for (const EvaluatedPart& part : parts) {
    for (const auto& [name, value] : of_evaluation(list_fields(part.defaults))) values[name] = {value, &part};
  }
  for (const auto& [name, value] : settings) {
    if (!values.contains(name)) {
      std::vector<std::string> known;
      known.reserve(values.size());
      for (const auto& [other, ignored] : values) known.push_back(other);
      throw Error(
          fmt::format("'{}' is no setting of {} that only evaluation reads; {}", name, parts.front().name,
                      known.empty() ? "it has none" : fmt::format("allowed: {}", fmt::join(known, ", "))));
    }
    values[name].first = value;
  }
  for (const auto& [name, setting] : values) {
    const auto& [value, part] = setting;
    ConfigNode node;
    node.kind = ConfigNode::Kind::kScalar;
    node.location.source = std::make_shared<const std::string>("command line");
    node.text = value;
    assign_path(name, node, part->fields, part->group + ".");
  }
  return changed;
}

RunConfig config_of_row(const RunConfig& config, const OptionValues& settings) {
  RunConfig measured = with_evaluation_settings(config, settings);
  if (!settings.empty() && (evaluation_settings(measured) != settings || measured.idle_setting())) {
    throw Error(fmt::format("encoding_settings {}; allowed: settings off their defaults that have an effect",
                            evaluation_settings_text(settings)));
  }
  return measured;
}

RunConfig with_changed_settings(const RunConfig& config, const OptionValues& settings) {
  OptionValues all = settings;
  all.merge(evaluation_settings(config));
  while (true) {
    RunConfig changed = with_evaluation_settings(config, all);
    const auto idle = changed.idle_setting();
    if (!idle) return changed;
    const std::string name = idle->paths.front().substr(idle->paths.front().find('.') + 1);
    if (settings.contains(name) || all.erase(name) == 0) return changed;
  }
}

std::string evaluation_settings_text(const OptionValues& settings) {
  std::vector<std::string> texts;
  texts.reserve(settings.size());
  for (const auto& [name, value] : settings) texts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(texts, ";"));
}

std::optional<OptionValues> parse_evaluation_settings(std::string_view text) {
  OptionValues settings;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view setting = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), setting.size() + 1));
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
    settings.emplace(setting.substr(0, equals), setting.substr(equals + 1));
  }
  // Another order, a name that is there twice, a ';' at the end.
  if (evaluation_settings_text(settings) != text) return std::nullopt;
  return settings;
}

std::vector<std::string> all_evaluation_paths() {
  std::set<std::string> paths;
  const auto add = [&](RunConfig config) {
    RunConfig defaults;
    for (const EvaluatedPart& part : evaluated_parts(config, defaults)) {
      for (const auto& [name, value] : of_evaluation(list_fields(part.fields))) {
        paths.insert(fmt::format("{}.{}", part.group, name));
      }
    }
  };
  for (const std::string& name : Registry<EncodingEntry>::instance().names()) {
    RunConfig config;
    config.encoding.reset(name);
    add(config);
  }
  for (const std::string& kind : Registry<ModelEntry>::instance().names()) {
    RunConfig config;
    config.model.kind = kind;
    add(config);
  }
  RunConfig of_text;
  of_text.text.corpus = "any";
  add(of_text);
  return {paths.begin(), paths.end()};
}

}  // namespace che
