#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/text.h"
#include "experiments/published/paper_table.h"
#include "experiments/results/training_outcome.h"
#include "tables/formats/formats.h"

namespace che {
namespace {

// A suffix goes below its number, small, so that columns stay narrow.
std::string cell_text(const PrintedCell& cell) {
  std::string text = latex_text(cell.text);
  if (cell.mark == Mark::kBest) text = "\\textbf{" + text + "}";
  if (cell.mark == Mark::kSecond) text = "\\underline{" + text + "}";
  text += latex_text(cell.sign);
  if (cell.footnote != 0) text += fmt::format("\\textsuperscript{{{}}}", cell.footnote);
  if (cell.suffix.empty()) return text;
  return fmt::format(R"(\begin{{tabular}}[t]{{@{{}}r@{{}}}}{}\\\scriptsize {}\end{{tabular}})", text,
                     latex_text(cell.suffix.substr(cell.suffix.find_first_not_of(' '))));
}

// Titles of number columns stand upright where they would make the table wider than about a line.
bool titles_upright(const PrintedTable& table) {
  constexpr std::size_t kLine = 70;  // Characters.
  std::size_t width = table.group_title.size();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t widest = table.columns[i].text().size();
    for (const PrintedRow& row : table.rows) widest = std::max(widest, row.cells[i].text.size());
    width += widest + 2;
  }
  return width > kLine;
}

// Rows of a float, which a page holds with its notes; a table of more breaks between pages.
constexpr std::size_t kFloat = 25;

// A line and its end.
std::string line_text(const std::vector<std::string>& cells) {
  return fmt::format("    {} \\\\\n", fmt::join(cells, " & "));
}

// A float, made smaller where it is wider than the text.
std::string begin_float(const std::string& caption, const std::string& columns, const std::string& header) {
  return fmt::format(
      "% Needs \\usepackage{{booktabs}} and \\usepackage{{graphicx}}.\n\\begin{{table}}\n  \\centering\n"
      "  \\caption{{{}}}\n  \\setlength{{\\tabcolsep}}{{4pt}}\n"
      "  \\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n"
      "  \\begin{{tabular}}{{{}}}\n    \\toprule\n{}",
      caption, columns, header);
}

// Breaks between pages, each of which begins with the header.
std::string begin_pages(const std::string& caption, const std::string& columns, const std::string& header) {
  return fmt::format(
      "% Needs \\usepackage{{booktabs}}, \\usepackage{{graphicx}} and \\usepackage{{longtable}}, one column "
      "of text and two passes.\n"
      "\\begingroup\n  \\scriptsize\n  \\setlength{{\\tabcolsep}}{{2pt}}\n  \\begin{{longtable}}{{{}}}\n"
      "    \\caption{{{}}} \\\\\n    \\toprule\n{}    \\midrule\n    \\endfirsthead\n    \\toprule\n{}"
      "    \\midrule\n    \\endhead\n    \\bottomrule\n    \\endfoot\n",
      columns, caption, header, header);
}

// Characters that LaTeX has commands for.
struct Character {
  std::string_view text;
  std::string_view command;
};
constexpr std::array<Character, 10> kCharacters = {{{"\u00b1", "$\\pm$"},
                                                    {kInvariantSign, "$\\dagger$"},
                                                    {kUntrainedSign, "$\\ddagger$"},
                                                    {kOtherMethodSign, "\\S{}"},
                                                    {"\\", "\\textbackslash{}"},
                                                    {"~", "\\textasciitilde{}"},
                                                    {"^", "\\textasciicircum{}"},
                                                    {"<", "\\textless{}"},
                                                    {">", "\\textgreater{}"},
                                                    {"|", "\\textbar{}"}}};

// Returns the character that `text` starts with, or null.
const Character* character_at(std::string_view text) {
  const auto* const found = std::ranges::find_if(
      kCharacters, [&](const Character& character) { return text.starts_with(character.text); });
  return found == kCharacters.end() ? nullptr : found;
}

}  // namespace

std::string latex_text(std::string_view text) {
  const std::string line = one_line(text, kWholeText);
  std::string result;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const auto byte = static_cast<unsigned char>(c);
    if (const Character* const known = character_at(std::string_view(line).substr(i))) {
      result += known->command;
      i += known->text.size() - 1;
    } else if (byte >= 0x80) {
      // The bytes that continue a character vanish with its first.
      if ((byte & 0xC0U) != 0x80U) result += '?';
    } else {
      if (std::string_view("_&%#${}").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

std::string latex_table(const Table& table) {
  const PrintedTable& printed = table.printed;
  const auto width = [](const std::string& text) { return text.size(); };
  PrintedLines lines = printed_lines(printed, {.plain = latex_text, .cell = cell_text, .width = width}, 0);
  if (titles_upright(printed)) {
    for (std::size_t i = 0; i < lines.number.size(); ++i) {
      if (!lines.number[i]) continue;
      std::string& title = lines.lines.front()[i];
      title = "\\rotatebox{90}{" + title.substr(title.find_first_not_of(' ')) + "}";
    }
  }
  std::string columns;
  for (const bool number : lines.number) columns += number ? 'r' : 'l';
  const bool is_long = printed.rows.size() > kFloat;
  std::string text =
      (is_long ? begin_pages : begin_float)(latex_text(table.title), columns, line_text(lines.lines.front()));
  for (std::size_t row = 1; row < lines.lines.size(); ++row) {
    // Under the header of several pages there is a rule already.
    if (row == 1 ? !is_long : lines.begins_group[row]) text += "    \\midrule\n";
    text += line_text(lines.lines[row]);
  }
  text += is_long ? "  \\end{longtable}\n  " : "    \\bottomrule\n  \\end{tabular}}\n  \\par\\medskip";
  text += "\\raggedright\\footnotesize\n";
  if (printed.marked()) text += "  Bold: the best of a row; underlined: the second.\\par\n";
  for (std::size_t i = 0; i < printed.footnotes.size(); ++i) {
    text += fmt::format("  \\textsuperscript{{{}}} {}\\par\n", i + 1, latex_text(printed.footnotes[i]));
  }
  for (const Note& note : printed.notes) text += fmt::format("  {}\\par\n", latex_text(note.text));
  return text + (is_long ? "\\endgroup\n" : "\\end{table}\n");
}

}  // namespace che
