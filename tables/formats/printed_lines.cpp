#include "tables/formats/printed_lines.h"

#include <algorithm>

namespace che {

PrintedLines printed_lines(const PrintedTable& table, const TextForms& forms, std::size_t least) {
  PrintedLines result;
  const bool groups = !table.group_title.empty();
  std::vector<std::string>& header = result.lines.emplace_back();
  result.begins_group.push_back(false);
  if (groups) {
    result.number.push_back(false);
    header.push_back(forms.plain(table.group_title));
  }
  for (const PrintedColumn& column : table.columns) {
    result.number.push_back(column.number);
    header.push_back(forms.plain(column.text()));
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const PrintedRow& row = table.rows[i];
    const bool begins = groups && (i == 0 || table.rows[i - 1].group != row.group);
    result.begins_group.push_back(begins);
    std::vector<std::string>& line = result.lines.emplace_back();
    if (groups) line.push_back(begins ? forms.plain(row.group) : "");
    for (const PrintedCell& cell : row.cells) line.push_back(forms.cell(cell));
  }

  result.widths.assign(result.number.size(), least);
  for (const auto& line : result.lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      result.widths[i] = std::max(result.widths[i], forms.width(line[i]));
    }
  }
  for (auto& line : result.lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string space(result.widths[i] - forms.width(line[i]), ' ');
      line[i] = result.number[i] ? space + line[i] : line[i] + space;
    }
  }
  return result;
}

}  // namespace che
