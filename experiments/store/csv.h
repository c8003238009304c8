#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace che {

// The rows of a CSV text whose fields hold no commas, quotes or line breaks: what the results store
// writes. Strict: the header must be the expected one, every line must end and have every column,
// a number must fill its field. Errors (usage) name file, line, column and what was found, and end
// with `remedy`, which says how to get out of it.
class CsvRows {
 public:
  CsvRows(std::string file, std::string_view text, std::vector<std::string> columns, std::string remedy);

  std::size_t size() const { return rows_.size(); }
  std::string_view text(std::size_t row, std::size_t column) const;
  std::int64_t integer(std::size_t row, std::size_t column) const;  // Not negative.
  double real(std::size_t row, std::size_t column) const;           // "nan" and "inf" included.

  // Throws unless the last column is what with_checksum_column made for `key`. A file without rows,
  // which is never written, throws too.
  void check_checksum(std::string_view key) const;

  // Throws the error of this field.
  [[noreturn]] void fail(std::size_t row, std::size_t column, std::string_view expected) const;

 private:
  [[noreturn]] void fail_line(std::size_t line, std::string_view problem) const;

  std::string file_;
  std::vector<std::string> columns_;
  std::string remedy_;
  std::vector<std::vector<std::string>> rows_;
};

// `csv` (a header and rows, each line ended) with one more column, whose every field is the checksum of all
// the others for `key`: a reader may drop it, and a damaged file is told by any row.
inline constexpr std::string_view kChecksumColumn = "checksum";
std::string with_checksum_column(std::string_view csv, std::string_view key);

// `text` as one field of a CSV line, quoted (RFC 4180) where it has to be.
std::string csv_field(std::string_view text);

}  // namespace che
