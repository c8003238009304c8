#pragma once

#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>

#include "tables/formats/table.h"

namespace che {

// Text of one HTML element or attribute: nothing in it is markup, and control characters that HTML does not
// have are written as escapes.
std::string html_text(std::string_view text);

// A path as a relative URL writes it, each part of it percent-encoded (RFC 3986).
std::string url_path(std::string_view path);

// Returns the values that table.html.mustache shows of a table. Its columns sort by a click on their titles
// (see report.js); footnotes and notes stand below. `id` is that of the table and begins those of its
// footnotes.
kainjow::mustache::data table_view(const PrintedTable& table, const std::string& id);

// Fills in a template whose variables are escaped as html_text does. Throws Error (runtime) for a template
// that does not parse.
std::string render(const std::string& html_template, const kainjow::mustache::data& view);

// Files of this folder, built into the program.
extern const char* const kReportPage;    // report.html.mustache
extern const char* const kReportTable;   // table.html.mustache
extern const char* const kReportStyle;   // report.css
extern const char* const kReportScript;  // report.js

}  // namespace che
