#pragma once

#include <string>

#include "tables/formats/table.h"

namespace che {

// A header and one line per row (RFC 4180); numbers in their shortest form that reads back to the same. Texts
// are one line each (see one_line); one that begins with =, +, - or @ and is no number has an apostrophe
// before it, so that no spreadsheet runs it.
std::string csv_table(const DataTable& data);

// An object: "title", "notes" (footnotes among them) and "rows", one object per row, null for what has
// no value.
std::string json_table(const Table& table);

}  // namespace che
