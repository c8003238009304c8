#include "tables/formats/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/text.h"
#include "tables/formats/printed_lines.h"

namespace che {
namespace {

constexpr std::size_t kGap = 2;  // Spaces between columns.

std::string plain(std::string_view text) { return one_line(text, kWholeText); }

std::string cell_text(const PrintedCell& cell, bool escapes) {
  std::string text = plain(cell.text);
  if (cell.mark != Mark::kNone) {
    const bool best = cell.mark == Mark::kBest;
    if (escapes) {
      text = fmt::format("\x1b[{}m{}\x1b[0m", best ? 1 : 4, text);
    } else {
      text += best ? '*' : '+';
    }
  }
  text += cell.sign + plain(cell.suffix);
  return cell.footnote == 0 ? text : fmt::format("{}[{}]", text, cell.footnote);
}

// All characters but those of escape sequences, which end with an m.
std::size_t seen_count(const std::string& text) {
  std::string seen;
  bool escape = false;
  for (const char c : text) {
    if (c == '\x1b') escape = true;
    if (!escape) seen += c;
    if (c == 'm') escape = false;
  }
  return character_count(seen);
}

// Columns of each block: the text columns that open the table, then as many others as fit.
std::vector<std::vector<std::size_t>> blocks(const PrintedLines& lines, std::size_t limit) {
  std::vector<std::size_t> first;
  std::size_t opening = 0;
  while (first.size() < lines.widths.size() && !lines.number[first.size()]) {
    opening += lines.widths[first.size()] + kGap;
    first.push_back(first.size());
  }
  std::vector<std::vector<std::size_t>> result{first};
  std::size_t used = opening;
  for (std::size_t i = first.size(); i < lines.widths.size(); ++i) {
    const bool fits = limit == 0 || used + lines.widths[i] <= limit;
    if (!fits && result.back().size() > first.size()) {
      result.push_back(first);
      used = opening;
    }
    result.back().push_back(i);
    used += lines.widths[i] + kGap;
  }
  return result;
}

// `text` after `mark`, further lines indented as far.
std::string wrapped(const std::string& mark, const std::string& text, std::size_t limit) {
  std::string result = mark;
  std::size_t used = mark.size();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t length = character_count(word);
    if (used > mark.size()) {
      const bool fits = limit == 0 || used + 1 + length <= limit;
      result += fits ? ' ' : '\n';
      if (!fits) result.append(mark.size(), ' ');
      used = fits ? used + 1 : mark.size();
    }
    result += word;
    used += length;
  }
  return result + "\n";
}

}  // namespace

std::string terminal_table(const PrintedTable& table, const TerminalStyle& style) {
  const auto cell = [&](const PrintedCell& one) { return cell_text(one, style.escapes); };
  const PrintedLines lines = printed_lines(table, {.plain = plain, .cell = cell, .width = seen_count}, 0);
  std::string text;
  for (const std::vector<std::size_t>& columns : blocks(lines, style.width)) {
    if (!text.empty()) text += '\n';
    std::size_t width = kGap * (columns.size() - 1);
    for (const std::size_t column : columns) width += lines.widths[column];
    for (std::size_t row = 0; row < lines.lines.size(); ++row) {
      if (row == 1 || lines.begins_group[row]) text += std::string(width, '-') + "\n";
      std::string line;
      for (const std::size_t column : columns) {
        if (column != columns.front()) line += std::string(kGap, ' ');
        line += lines.lines[row][column];
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  text += '\n';
  if (table.marked()) {
    text += style.escapes ? "Bold: the best of a row; underlined: the second.\n"
                          : "*: the best of a row; +: the second.\n";
  }
  for (std::size_t i = 0; i < table.footnotes.size(); ++i) {
    text += wrapped(fmt::format("[{}] ", i + 1), plain(table.footnotes[i]), style.width);
  }
  for (const Note& note : table.notes) text += wrapped("", plain(note.text), style.width);
  return text;
}

}  // namespace che
