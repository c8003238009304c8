#pragma once

#include <string>

#include "tables/table.h"

namespace che {

// A header and a line a row (RFC 4180); numbers in their shortest form that reads back to the same.
std::string csv_table(const DataTable& data);

// An object: "title", "notes" (footnotes among them) and "rows", an object a row, null for what has
// no value.
std::string json_table(const Table& table);

}  // namespace che
