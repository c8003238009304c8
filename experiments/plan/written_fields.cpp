#include "experiments/plan/written_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/config/reader.h"
#include "core/error.h"
#include "core/text.h"

namespace che {
namespace {

bool is_variant(const RunSetting& setting) { return setting.axis && setting.axis->has_variants(); }

// The name of a setting in the config or on the command line.
std::string name_of(const RunSetting& setting) {
  if (setting.is_override()) return setting.setting->path;
  if (!is_variant(setting)) return "axes." + setting.axis->name;
  return fmt::format("variant '{}' of axes.{}", one_line(setting.value->label), setting.axis->name);
}

// If two settings write one field, the one with the lower rank is to be kept.
std::tuple<bool, bool, std::size_t> rank(const RunSetting& setting) {
  return {setting.is_override(), !is_variant(setting), setting.setting->path.size()};
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
  if (dropped.is_override() && !kept.is_override()) {
    remedy += fmt::format("; axes.{}=[...] replaces the axis", kept.axis->name);
  }
  return config_error(location_of(dropped),
                      is_variant(dropped) ? "axes." + dropped.axis->name : name_of(dropped),
                      fmt::format("sets {}, which {} sets too; {}", field, name_of(kept), remedy));
}

}  // namespace

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
      if (is_first || (is_variant(*writer->second) && setting.is_override())) continue;
      const RunSetting& first = *writer->second;
      const RunSetting& dropped = rank(first) <= rank(setting) ? setting : first;
      throw conflict(first, setting, field, fields_.at(dropped.setting).size() == 1);
    }
  }
}

}  // namespace che
