#include "experiments/store/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "core/config/node.h"
#include "core/error.h"
#include "core/hashes.h"

namespace che {
namespace {

template <class Number>
bool parse(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end;
}

}  // namespace

CsvRows::CsvRows(std::string file, std::string_view text, std::vector<std::string> columns,
                 std::string remedy)
    : file_(std::move(file)), columns_(std::move(columns)), remedy_(std::move(remedy)), text_(text) {
  std::string_view rest = text_;
  for (std::size_t number = 1; number == 1 || !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) fail_line(number, rest.empty() ? "no header" : "the line is cut off");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (number == 1) {
      const std::string header = fmt::format("{}", fmt::join(columns_, ","));
      if (line != header) fail_line(1, fmt::format("the header is '{}', expected '{}'", line, header));
      continue;
    }
    const auto count = static_cast<std::size_t>(std::ranges::count(line, ',')) + 1;
    if (count != columns_.size()) {
      fail_line(number, fmt::format("found {} columns in '{}', expected {}", count, line, columns_.size()));
    }
    lines_.push_back(line);
  }
}

std::string_view CsvRows::text(std::size_t row, std::size_t column) const {
  std::string_view line = lines_[row];
  for (; column > 0; --column) line.remove_prefix(line.find(',') + 1);
  return line.substr(0, line.find(','));
}

std::int64_t CsvRows::integer(std::size_t row, std::size_t column) const {
  std::int64_t value = 0;
  if (!parse(text(row, column), value) || value < 0) fail(row, column, "a whole number >= 0");
  return value;
}

double CsvRows::real(std::size_t row, std::size_t column) const {
  double value = 0;
  if (!parse(text(row, column), value)) fail(row, column, "a number");
  return value;
}

void CsvRows::check_checksum(std::string_view key) const {
  if (lines_.empty()) fail_line(2, "there are no rows");
  const std::size_t last = columns_.size() - 1;
  std::string others = fmt::format("{}\n", fmt::join(columns_.begin(), columns_.end() - 1, ","));
  for (const std::string_view line : lines_) {
    others += line.substr(0, line.rfind(','));
    others += '\n';
  }
  const std::string expected = checksum(key, others);
  for (std::size_t i = 0; i < size(); ++i) {
    if (text(i, last) != expected) fail(i, last, expected + " for this run and content");
  }
}

void CsvRows::fail(std::size_t row, std::size_t column, std::string_view expected) const {
  // Rows count from 0 and the header is line 1.
  fail_line(row + 2,
            fmt::format("column {}: found '{}', expected {}", columns_[column], text(row, column), expected));
}

void CsvRows::fail_line(std::size_t line, std::string_view problem) const {
  throw Error(fmt::format("{}:{}: {}; the file is damaged: {}", file_, line, one_line(problem, kMaxProblem),
                          remedy_));
}

std::string with_checksum_column(std::string_view csv, std::string_view key) {
  const std::string value = checksum(key, csv);
  std::string text;
  for (bool header = true; !csv.empty(); header = false) {
    const std::size_t end = csv.find('\n');
    text += fmt::format("{},{}\n", csv.substr(0, end), header ? kChecksumColumn : value);
    csv.remove_prefix(end + 1);
  }
  return text;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace che
