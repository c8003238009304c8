#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tables/formats/table.h"

namespace che {

// A header and one line per row (RFC 4180); numbers in their shortest form that reads back to the same. Texts
// are one line each (see one_line); one that begins with =, +, - or @ and is no number has an apostrophe
// before it, so that no spreadsheet runs it.
std::string csv_table(const DataTable& data);

// An object: "title", "notes" (footnotes among them) and "rows", one object per row, null for what has
// no value.
std::string json_table(const Table& table);

// A table to \input into a document that loads booktabs and graphicx. Up to 25 rows are a table environment,
// which shrinks to the line where it is wider. More are a longtable, which breaks between pages and does not
// shrink. It is for a document with one column that loads longtable too. ASCII only.
std::string latex_table(const Table& table);

// Text that LaTeX typesets as it is written; characters beyond ASCII that no command is known for
// become question marks.
std::string latex_text(std::string_view text);

// Returns a Markdown table that is aligned as text, too. The best of a row is bold, the second underlined (as
// <ins>, which GitHub keeps). Footnotes and notes stand below it as a list.
std::string markdown_table(const PrintedTable& table);

// A table for a terminal. One that is wider than `style` allows is cut into blocks of columns that
// repeat the text columns on the left; notes are wrapped.
std::string terminal_table(const PrintedTable& table, const TerminalStyle& style);

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
