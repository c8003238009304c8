#include "tables/formats/markdown.h"

#include <fmt/format.h>

#include <cctype>

#include "core/text.h"
#include "tables/formats/printed_lines.h"

namespace che {
namespace {

// One line, with nothing that Markdown takes for a column, an emphasis, a link or HTML.
std::string plain(std::string_view text) {
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

std::string cell_text(const PrintedCell& cell) {
  std::string text = plain(cell.text);
  if (cell.mark == Mark::kBest) text = "**" + text + "**";
  if (cell.mark == Mark::kSecond) text = "<ins>" + text + "</ins>";
  text += cell.sign + plain(cell.suffix);
  return cell.footnote == 0 ? text : text + footnote_mark(cell.footnote);
}

}  // namespace

std::string markdown_table(const PrintedTable& table) {
  constexpr std::size_t kMinRule = 3;
  const PrintedLines lines =
      printed_lines(table, {.plain = plain, .cell = cell_text, .width = character_count}, kMinRule);
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
    text += fmt::format("- {} {}\n", footnote_mark(i + 1), plain(table.footnotes[i]));
  }
  for (const Note& note : table.notes) text += fmt::format("- {}\n", plain(note.text));
  return text;
}

}  // namespace che
