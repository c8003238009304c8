#pragma once

#include <kainjow/mustache.hpp>
#include <string>

#include "tables/formats/table.h"

namespace che {

// What table.html.mustache shows of a table: its columns sort by a click on their titles (see report.js),
// footnotes and notes stand below. `id` is that of the table and begins those of its footnotes.
kainjow::mustache::data table_view(const PrintedTable& table, const std::string& id);

// The same as HTML.
std::string html_table(const PrintedTable& table, const std::string& id);

// Fills in a template whose variables are escaped as html_text does. Throws Error (runtime) for a template
// that does not parse.
std::string render(const std::string& html_template, const kainjow::mustache::data& view);

}  // namespace che
