#include "experiments/store/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <iterator>

#include "core/config/node.h"
#include "core/error.h"
#include "core/files.h"

namespace che {
namespace {

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.emplace_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <class Number>
bool parse(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end;
}

}  // namespace

CsvRows::CsvRows(std::string file, std::string_view text, std::vector<std::string> columns,
                 std::string remedy)
    : file_(std::move(file)), columns_(std::move(columns)), remedy_(std::move(remedy)) {
  for (std::size_t line = 1; line == 1 || !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) fail_line(line, text.empty() ? "no header" : "the line is cut off");
    std::vector<std::string> fields = split(text.substr(0, end));
    text.remove_prefix(end + 1);
    if (line == 1) {
      if (fields != columns_) {
        fail_line(line, fmt::format("the header is '{}', expected '{}'", fmt::join(fields, ","),
                                    fmt::join(columns_, ",")));
      }
      continue;
    }
    if (fields.size() != columns_.size()) {
      fail_line(line, fmt::format("found {} columns in '{}', expected {}", fields.size(),
                                  fmt::join(fields, ","), columns_.size()));
    }
    rows_.push_back(std::move(fields));
  }
}

std::string_view CsvRows::text(std::size_t row, std::size_t column) const { return rows_[row][column]; }

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
  std::string others;
  const auto append = [&](const std::vector<std::string>& fields) {
    fmt::format_to(std::back_inserter(others), "{}\n", fmt::join(fields.begin(), fields.end() - 1, ","));
  };
  append(columns_);
  for (const std::vector<std::string>& row : rows_) append(row);
  const std::string expected = checksum(key, others);
  if (rows_.empty()) fail_line(2, "there are no rows");
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].back() != expected) fail(i, columns_.size() - 1, expected + " for this run and content");
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
