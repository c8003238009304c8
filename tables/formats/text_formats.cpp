#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "core/text.h"
#include "tables/formats/formats.h"

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

namespace {

// One line, with nothing that Markdown takes for a column, an emphasis, a link or HTML.
std::string markdown_text(std::string_view text) {
  const std::string line = one_line(text, kWholeText);
  const auto in_word = [&](std::size_t i) {
    return i < line.size() && std::isalnum(static_cast<unsigned char>(line[i])) != 0;
  };
  std::string result;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    // An underscore within a word is none of an emphasis.
    const bool is_plain = c == '_' && i > 0 && in_word(i - 1) && in_word(i + 1);
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      if (!is_plain && std::string_view("|*`_[]~\\").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

std::string footnote_mark(std::size_t number) { return fmt::format("<sup>{}</sup>", number); }

std::string markdown_cell(const PrintedCell& cell) {
  std::string text = markdown_text(cell.text);
  if (cell.mark == Mark::kBest) text = "**" + text + "**";
  if (cell.mark == Mark::kSecond) text = "<ins>" + text + "</ins>";
  text += cell.sign + markdown_text(cell.suffix);
  return cell.footnote == 0 ? text : text + footnote_mark(cell.footnote);
}

}  // namespace

std::string markdown_table(const PrintedTable& table) {
  constexpr std::size_t kMinRule = 3;
  const PrintedLines lines = printed_lines(
      table, {.plain = markdown_text, .cell = markdown_cell, .width = character_count}, kMinRule);
  std::string text;
  for (std::size_t row = 0; row < lines.lines.size(); ++row) {
    for (const std::string& cell : lines.lines[row]) text += fmt::format("| {} ", cell);
    text += "|\n";
    if (row > 0) continue;
    for (std::size_t i = 0; i < lines.widths.size(); ++i) {
      text += fmt::format("| {}{} ", std::string(lines.widths[i] - 1, '-'), lines.number[i] ? ':' : '-');
    }
    text += "|\n";
  }
  text += '\n';
  if (table.marked()) text += "- Bold: the best of a row; underlined: the second.\n";
  for (std::size_t i = 0; i < table.footnotes.size(); ++i) {
    text += fmt::format("- {} {}\n", footnote_mark(i + 1), markdown_text(table.footnotes[i]));
  }
  for (const Note& note : table.notes) text += fmt::format("- {}\n", markdown_text(note.text));
  return text;
}

namespace {

constexpr std::size_t kGap = 2;  // Spaces between columns.

std::string terminal_text(std::string_view text) { return one_line(text, kWholeText); }

std::string terminal_cell(const PrintedCell& cell, bool escapes) {
  std::string text = terminal_text(cell.text);
  if (cell.mark != Mark::kNone) {
    const bool best = cell.mark == Mark::kBest;
    if (escapes) {
      text = fmt::format("\x1b[{}m{}\x1b[0m", best ? 1 : 4, text);
    } else {
      text += best ? '*' : '+';
    }
  }
  text += cell.sign + terminal_text(cell.suffix);
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
  const auto cell = [&](const PrintedCell& one) { return terminal_cell(one, style.escapes); };
  const PrintedLines lines =
      printed_lines(table, {.plain = terminal_text, .cell = cell, .width = seen_count}, 0);
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
    text += wrapped(fmt::format("[{}] ", i + 1), terminal_text(table.footnotes[i]), style.width);
  }
  for (const Note& note : table.notes) text += wrapped("", terminal_text(note.text), style.width);
  return text;
}

}  // namespace che
