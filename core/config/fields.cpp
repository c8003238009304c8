#include "core/config/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/config/field_list.h"
#include "core/config/reader.h"

namespace che {

AnyOptions AnyOptions::with(const OptionValues& values) const {
  ConfigNode map;
  map.kind = ConfigNode::Kind::kMap;
  for (const auto& [name, text] : values) {
    ConfigEntry& entry = map.entries.emplace_back();
    entry.key = name;
    entry.value.kind = ConfigNode::Kind::kScalar;
    entry.value.text = text;
  }
  AnyOptions options = *this;
  assign_fields(map, fields_of(options));
  return options;
}

OptionValues AnyOptions::values() const {
  OptionValues values;
  for (const FieldRecord& record : list_fields(fields_of(*this))) values.emplace(record.path, record.value);
  return values;
}

std::string ConfigProblem::message() const { return fmt::format("{}: {}", fmt::join(paths, ", "), text); }

}  // namespace che
