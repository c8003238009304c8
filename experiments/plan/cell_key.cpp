#include "experiments/plan/cell_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/config/field_list.h"

namespace che {
namespace {

// Paths below `component`, which the label names, are written relative to it.
std::string text_of(const std::vector<SettingValue>& settings, std::string_view component) {
  if (settings.empty()) return "";
  std::vector<std::string> texts;
  texts.reserve(settings.size());
  for (const SettingValue& setting : settings) {
    const std::string text = setting.text();
    texts.push_back(is_below(setting.path, component) ? text.substr(component.size() + 1) : text);
  }
  return fmt::format("({})", fmt::join(texts, ", "));
}

}  // namespace

std::vector<SettingValue> settings_off_default(std::string_view component,
                                               const FieldVisitor::Members& config,
                                               const FieldVisitor::Members& defaults) {
  std::vector<SettingValue> settings;
  for (const FieldRecord& record : distinct_fields(config, defaults)) {
    if (record.structural || record.role == Role::kExecution) continue;
    settings.push_back({.path = fmt::format("{}.{}", component, record.path), .value = record.value});
  }
  return settings;
}

std::string EncodingForm::text() const {
  return fmt::format("{}{}{}", randomized ? "randomized_" : "", dape ? "dape_" : "", name);
}

std::string TaskLabel::text() const { return name + text_of(settings, "task"); }

std::string EncodingLabel::text() const { return form.text() + settings_text(); }

std::string EncodingLabel::settings_text() const { return text_of(settings, "encoding"); }

}  // namespace che
