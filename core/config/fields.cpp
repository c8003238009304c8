#include "core/config/fields.h"

#include "core/config/field_list.h"
#include "core/config/reader.h"

namespace che {

void load_options(const OptionValues& values, const FieldVisitor::Members& members) {
  ConfigNode map;
  map.kind = ConfigNode::Kind::kMap;
  for (const auto& [name, text] : values) {
    ConfigEntry& entry = map.entries.emplace_back();
    entry.key = name;
    entry.value.kind = ConfigNode::Kind::kScalar;
    entry.value.text = text;
  }
  assign_fields(map, members);
}

OptionValues dump_options(const FieldVisitor::Members& members) {
  OptionValues values;
  for (const FieldRecord& record : list_fields(members)) values.emplace(record.path, record.value);
  return values;
}

}  // namespace che
