#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tables/formats/table.h"

namespace che {

// How a format writes texts.
struct TextForms {
  std::function<std::string(std::string_view)> plain;
  std::function<std::string(const PrintedCell&)> cell;
  std::function<std::size_t(const std::string&)> width;  // Characters that are seen of a text.
};

// A printed table as lines of text: the header and one line per row, a group's name on its first row only.
struct PrintedLines {
  std::vector<bool> number;                     // (columns)
  std::vector<std::vector<std::string>> lines;  // (1 + rows, columns), padded to the column's width
  std::vector<std::size_t> widths;              // (columns), of what is seen
  std::vector<bool> begins_group;               // (1 + rows)
};

// Columns are `least` wide at least.
PrintedLines printed_lines(const PrintedTable& table, const TextForms& forms, std::size_t least);

}  // namespace che
