#include "experiments/plan/evaluation_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/registry.h"
#include "experiments/plan/encoding_config.h"
#include "models/settings/encoding_entry.h"

namespace che {

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

std::vector<std::string> all_evaluation_setting_names() {
  std::set<std::string> names;
  for (const std::string& encoding : Registry<EncodingEntry>::instance().names()) {
    EncodingConfig config;
    config.reset(encoding);
    for (std::string& name : config.evaluation_setting_names()) names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

}  // namespace che
