#pragma once

#include <string>
#include <string_view>

#include "tables/table.h"

namespace che {

// Text of one HTML element or attribute, with nothing in it that HTML reads as markup.
std::string html_text(std::string_view text);

// A path as a relative URL writes it, each part of it percent-encoded (RFC 3986).
std::string url_path(std::string_view path);

// A table whose columns a click on their titles sorts (see report.js), its footnotes and notes below.
// `id` is that of the table, and begins those of its footnotes.
std::string html_table(const PrintedTable& table, const std::string& id);

}  // namespace che
