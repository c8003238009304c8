#pragma once

#include <string>

#include "core/config/fields.h"

namespace che {

// Every field that `members` visits as block YAML, which assign_fields reads back to equal values.
std::string write_fields(const FieldVisitor::Members& members);

}  // namespace che
