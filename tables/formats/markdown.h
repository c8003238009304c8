#pragma once

#include <string>

#include "tables/formats/table.h"

namespace che {

// A Markdown table that is aligned as text, too: the best of a row bold, the second underlined (as
// <ins>, which GitHub keeps); below it footnotes and notes as a list.
std::string markdown_table(const PrintedTable& table);

}  // namespace che
