#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"

namespace che {

// One field of a struct, as text.
struct FieldRecord {
  std::string path;         // "training.steps"
  std::string hashed_path;  // See Field::hashed_name; the same as `path` for most fields.
  std::string value;    // Canonical: whole numbers in decimal, reals in their shortest form, true or false.
  std::string allowed;  // Only describe_fields sets these two.
  std::string help;
  Role role = Role::kCell;
  bool number = false;
  bool boolean = false;
  // Decides which other fields exist: a structural choice (the name of a component), a text, a list, or (with
  // the value "present") an optional group. Absent ones are not listed.
  bool structural = false;
  // An optional group; it has no value of its own in a config.
  bool group = false;
};

// Every field that `members` visits, in that order. A text, a list or an optional group that is absent is
// left out, a group that is present precedes its fields.
std::vector<FieldRecord> list_fields(const FieldVisitor::Members& members);

// Lists them with what each field allows and its help.
std::vector<FieldRecord> describe_fields(const FieldVisitor::Members& members);

// The key paths of the fields that take a list, absent or not.
std::vector<std::string> list_valued_fields(const FieldVisitor::Members& members);

// The fields of `config` that its type does not determine: structural ones, and those whose value differs
// from the one in `defaults`, which has the same structure.
std::vector<FieldRecord> distinct_fields(const FieldVisitor::Members& config,
                                         const FieldVisitor::Members& defaults);

// Whether the key path `path` is `ancestor` or a part of it.
bool is_below(std::string_view path, std::string_view ancestor);

// Every field that `members` visits as block YAML, which assign_fields reads back to equal values.
std::string write_fields(const FieldVisitor::Members& members);

}  // namespace che
