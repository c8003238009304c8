#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"
#include "core/config/node.h"

namespace che {

// A list of numbers in a config has at most this many.
inline constexpr std::size_t kMostListedNumbers = 4096;

// Key paths of the fields that a config writes. A name that stands for a component, such as randomized_rope,
// writes the component's name and what it sets apart from the component's defaults.
using WrittenPaths = std::vector<std::string>;

// Sets the fields that `members` visits from a map; those the map does not name keep their values.
// A component given as a map starts from its defaults and needs `name`. Throws Error (usage) with
// file, line, key path, what is allowed and a near name for an unknown key, a wrong type, a value out
// of range. `prefix` precedes the key paths in messages ("base.").
WrittenPaths assign_fields(const ConfigNode& map, const FieldVisitor::Members& members,
                           std::string_view prefix = "");

// Sets the field or the group at a key path ("training.steps") in the same way. A group inside an optional
// one that is absent is an error.
WrittenPaths assign_path(std::string_view path, const ConfigNode& value, const FieldVisitor::Members& members,
                         std::string_view prefix = "");

// Throws Error unless `node` is a map whose keys are all in `known`.
void check_keys(const ConfigNode& node, std::string_view path, const std::vector<std::string>& known);

}  // namespace che
