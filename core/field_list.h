#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"

namespace che {

// One field of a struct, as text.
struct FieldRecord {
  std::string path;   // "training.steps"
  std::string value;  // Canonical: whole numbers in decimal, reals in their shortest form.
  std::string allowed;
  std::string help;
  Role role = Role::kCell;
  bool number = false;
  // The name of a component, or (with the value "present") an optional group that is there: what
  // decides which other fields exist.
  bool structural = false;
  // An optional group; it has no value of its own in a config.
  bool group = false;
};

// Every field that `members` visits, in that order. An optional group that is absent is left out,
// one that is present precedes its fields.
std::vector<FieldRecord> list_fields(const FieldVisitor::Members& members);

// Whether the key path `path` is `ancestor` or a part of it.
bool is_below(std::string_view path, std::string_view ancestor);

}  // namespace che
