#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace che {

// The rows of a CSV text that the results store writes: fields hold no commas, quotes or line breaks. The
// header must be the expected one, every line must end and have every column, and a number must fill its
// field. Errors (usage) name file, line, column and content, and end with `remedy`, which says what to do.
class CsvRows {
 public:
  CsvRows(std::string file, std::string_view text, std::vector<std::string> columns, std::string remedy);
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  std::size_t size() const { return lines_.size(); }
  std::string_view text(std::size_t row, std::size_t column) const;
  std::int64_t integer(std::size_t row, std::size_t column) const;  // Not negative.
  double real(std::size_t row, std::size_t column) const;           // "nan" and "inf" included.

  // Throws unless with_checksum_column wrote the last column for `key`, and for a file without rows, which is
  // never written.
  void check_checksum(std::string_view key) const;

  // Throws the error of this field.
  [[noreturn]] void fail(std::size_t row, std::size_t column, std::string_view expected) const;

 private:
  [[noreturn]] void fail_line(std::size_t line, std::string_view problem) const;

  std::string file_;
  std::vector<std::string> columns_;
  std::string remedy_;
  std::string text_;
  // In `text_`, without the header. Views of all fields would take several times the text.
  std::vector<std::string_view> lines_;
};

inline constexpr std::string_view kChecksumColumn = "checksum";

// Returns `csv` (a header and rows, each line ended) with one more column: in every row the checksum of all
// other columns for `key`. A reader may drop it.
std::string with_checksum_column(std::string_view csv, std::string_view key);

// Returns `text` as one field of a CSV line, quoted (RFC 4180) where it has to be.
std::string csv_field(std::string_view text);

}  // namespace che
