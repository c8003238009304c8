#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace che {

// How a printed number stands among those of its row.
enum class Mark { kNone, kBest, kSecond };

struct PrintedCell {
  std::string text;
  std::string suffix = "";   // What stands after it and is not marked: a spread, a paper's value.
  std::string sign = "";     // A sign right behind the text, which a note explains: kInvariantSign, ...
  Mark mark = Mark::kNone;   // Of the text.
  std::size_t footnote = 0;  // Its number, from 1; 0 for none.
  std::string link = "";     // Where it leads, in a format with links.
  std::optional<double> value = std::nullopt;  // What a reader's click sorts by; else by the text.
};

struct PrintedColumn {
  std::string title;
  std::string settings = "";  // Directly after the title, which a narrow page may break here.
  bool number = true;         // Numbers stand to the right, text to the left.

  std::string text() const { return title + settings; }
};

struct PrintedRow {
  std::string group;  // Neighbours of one group stand together; its name is printed once.
  std::vector<PrintedCell> cells;
};

// Signs, each explained by a note of the table that has it; kInvariantSign is another.
inline constexpr const char* kOtherMethodSign = "\u00a7";  // Section sign: the paper's positions differ.

// What a note below a table is about.
enum class NoteKind {
  kReading,     // What numbers, signs and parentheses mean.
  kStatistics,  // How intervals and tests are computed.
  kMissing,     // Runs that do not count.
  kBaselines,   // What trivial baselines are.
  kPaper,       // What the paper's values are.
  kClaims,      // Claims of the paper, counted.
  kProvenance,  // Where the runs come from.
};

struct Note {
  NoteKind kind = NoteKind::kReading;
  std::string text;  // Plain text, whole sentences.

  bool operator==(const Note&) const = default;
};

// A table as people read it: rounded, marked, with notes.
struct PrintedTable {
  std::string group_title;  // Of the groups' column; empty when rows have no groups.
  std::vector<PrintedColumn> columns;
  std::vector<PrintedRow> rows;
  std::vector<std::string> footnotes;  // Footnote i + 1, plain text.
  std::vector<Note> notes;

  bool marked() const;
};

// Which notes a table keeps.
enum class NoteChoice {
  kNone,
  kShort,  // What one needs to read the numbers, and which runs do not count.
  kAll,
};

using TableValue = std::variant<std::monostate, std::string, std::int64_t, double>;

// Nothing becomes std::monostate.
TableValue table_value(const std::optional<double>& number);

// The same as programs read it: unrounded, one value a field, empty where there is none.
struct DataTable {
  std::vector<std::string> columns;
  std::vector<std::vector<TableValue>> rows;
  std::vector<Note> notes = {};  // Units are those of the rows.
};

struct Table {
  std::string title;  // One sentence, plain text.
  PrintedTable printed;
  DataTable data;
};

// Removes the notes that `choice` does not keep; footnotes stay, since cells refer to them.
void choose_notes(Table& table, NoteChoice choice);

// "terminal", "md", "csv", "json", "tex".
const std::vector<std::string>& table_formats();

struct TerminalStyle {
  std::size_t width = 0;  // In characters; wider tables are cut into blocks. 0: any width.
  bool escapes = false;   // Bold and underline by escape sequences; else by * and +.
};

// `table` as text in one of table_formats(); `style` is for "terminal".
std::string format_table(const Table& table, std::string_view format, const TerminalStyle& style = {});

// 0.7512 as "75.1", for a cell; with its sign always, for a difference.
std::string percent(double fraction);
std::string signed_percent(double fraction);

// A p-value to three digits.
std::string p_text(double p);

// What stands where a number is missing.
inline constexpr const char* kNoNumber = "--";

// `number` as `form` writes it, kNoNumber for nothing.
PrintedCell number_cell(const std::optional<double>& number, std::string (*form)(double));

// Marks the best and, if asked to, the second among `cells`, ties all, by their values (fractions) as
// percent() prints them, so that equal texts have equal marks. A single number is not marked; a cell without
// a value stays as it is.
void mark_best(const std::vector<PrintedCell*>& cells, bool with_second);

}  // namespace che
