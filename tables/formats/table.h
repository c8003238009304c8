#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "workloads/metric.h"

namespace che {

// The place of a printed number among those of its row.
enum class Mark { kNone, kBest, kSecond };

struct PrintedCell {
  std::string text;
  std::string suffix = "";   // Stands after the text and is not marked: a spread, a paper's value.
  std::string sign = "";     // Stands right behind the text and is explained by a note: kInvariantSign, ...
  Mark mark = Mark::kNone;   // Marks the text.
  std::size_t footnote = 0;  // Number from 1; 0 for none.
  std::string link = "";     // Target, in a format with links.
  std::optional<double> value = std::nullopt;  // A click sorts by it, or by the text without it.
};

struct PrintedColumn {
  std::string title;
  std::string settings = "";  // Follows the title; a narrow page may break between them.
  bool number = true;         // Aligned to the right.

  std::string text() const { return title + settings; }
};

struct PrintedRow {
  std::string group;  // Printed once for neighbouring rows of one group.
  std::vector<PrintedCell> cells;
};

// The section sign behind a value of the paper that has other positions than ours. A note explains it.
inline constexpr const char* kOtherMethodSign = "\u00a7";

// The subject of a note below a table.
enum class NoteKind {
  kReading,     // How to read the numbers, signs and parentheses, and which runs do not count.
  kPaper,       // Where the paper's values come from.
  kMethod,      // How numbers, tests and marks are computed.
  kProvenance,  // Where the runs come from.
};

struct Note {
  NoteKind kind = NoteKind::kReading;
  std::string text;  // Plain text, whole sentences.

  bool operator==(const Note&) const = default;
};

// A table as people read it: rounded, marked, with notes.
struct PrintedTable {
  std::string group_title = "";  // Title of the groups' column; empty when rows have no groups.
  std::vector<PrintedColumn> columns = {};
  std::vector<PrintedRow> rows = {};
  std::vector<std::string> footnotes = {};  // Footnote i + 1, plain text.
  std::vector<Note> notes = {};

  bool marked() const;
};

// The notes that a table keeps. kShort keeps kReading and kPaper.
enum class NoteChoice { kNone, kShort, kAll };

using TableValue = std::variant<std::monostate, std::string, std::int64_t, double>;

// Turns a missing number into std::monostate.
template <typename Number>
TableValue table_value(const std::optional<Number>& number) {
  return number ? TableValue(*number) : TableValue();
}

// A table as programs read it: unrounded, one value a field, empty where there is none.
struct DataTable {
  std::vector<std::string> columns = {};
  std::vector<std::vector<TableValue>> rows = {};
  std::vector<Note> notes = {};  // Use the units of the rows.

  // Adds a row of columns with values. The first row names the columns of the table.
  void add_row(const std::vector<std::pair<const char*, TableValue>>& row);
};

struct Table {
  std::string title;  // One sentence, plain text.
  PrintedTable printed = {};
  DataTable data = {};
};

// Removes the notes that `choice` does not keep; footnotes stay, since cells refer to them.
void choose_notes(Table& table, NoteChoice choice);

// "terminal", "md", "csv", "json", "tex".
const std::vector<std::string>& table_formats();

struct TerminalStyle {
  std::size_t width = 0;  // In characters; wider tables are cut into blocks. 0: any width.
  bool escapes = false;   // Bold and underline by escape sequences; else by * and +.
};

// Writes `table` in one of table_formats(). `style` is for "terminal".
std::string format_table(const Table& table, std::string_view format, const TerminalStyle& style = {});

// A p-value to three digits.
std::string p_text(double p);

// Stands for a missing number.
inline constexpr const char* kNoNumber = "--";

// Prints `number` as `form` writes it, or kNoNumber.
PrintedCell number_cell(const std::optional<double>& number, std::string (*form)(double));

// Prints a value of the metric, or kNoNumber.
PrintedCell number_cell(const std::optional<double>& value, const Metric& metric);

// Prints a difference of two values of the metric, or kNoNumber.
PrintedCell difference_cell(const std::optional<double>& difference, const Metric& metric);

// Marks the best and, with `with_second`, the second among `cells` by their values as the metric prints them,
// so that equal texts have equal marks. A single number is not marked.
void mark_best(const std::vector<PrintedCell*>& cells, const Metric& metric, bool with_second);

}  // namespace che
