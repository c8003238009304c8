#include "experiments/published/paper_perplexities.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/store/csv.h"

namespace che {

// data/paper/table5_arxiv.csv and its like, built into the program.
extern const char* const kPaperTable5Csv;
extern const char* const kPaperTable6Csv;
extern const char* const kPaperTable7Csv;

namespace {

constexpr std::int64_t kLongest = 8192;  // Test lengths double from the training length up to it.

// Lines have an encoding's shorthand, DAPE's variant or nothing, what the numbers are, and a number for each
// test length.
PaperPerplexities read_table(PaperPerplexities table, const char* csv) {
  std::vector<std::string> names = {"encoding", "dape_variant", "statistic"};
  const std::size_t first = names.size();
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = table.trained; length <= kLongest; length *= 2) {
    lengths.push_back(length);
    names.push_back(std::to_string(length));
  }
  const CsvRows lines(fmt::format("data/paper, table {}", static_cast<int>(table.table)), csv, names,
                      "restore it and build again");
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const bool is_deviation = lines.text(line, 2) == "std";
    if (!is_deviation) {
      EncodingConfig& encoding = table.rows.emplace_back().encoding;
      encoding.reset(lines.text(line, 0));
      if (encoding.dape) {
        const auto& words = DapeOptions::variant_words();
        const auto word = std::ranges::find(words, lines.text(line, 1));
        if (word == words.end()) lines.fail(line, 1, "a variant of DAPE");
        encoding.dape->variant = static_cast<DapeVariant>(word - words.begin());
        encoding.dape->hidden = 32;
      }
    }
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      PaperValue& value = table.rows.back().values[lengths[i]];
      const double number = lines.real(line, first + i);
      if (is_deviation) {
        value.deviation = number;
      } else {
        value = {.column = table.rows.back().encoding.form(), .score = number, .table = table.table};
      }
    }
  }
  return table;
}

}  // namespace

const std::vector<PaperPerplexities>& paper_perplexities() {
  static const std::vector<PaperPerplexities> tables = {
      read_table({.table = PaperTable::kArxiv,
                  .text = PaperText::kArxiv,
                  .trained = 512,
                  .about = "Arxiv, the mean of three seeds"},
                 kPaperTable5Csv),
      read_table({.table = PaperTable::kBooks3,
                  .text = PaperText::kBooks3,
                  .trained = 128,
                  .about = "Books3, number of runs not stated"},
                 kPaperTable6Csv),
      read_table({.table = PaperTable::kBooks3Variants,
                  .text = PaperText::kBooks3,
                  .trained = 512,
                  .about = "Books3, number of runs not stated"},
                 kPaperTable7Csv)};
  return tables;
}

std::optional<PaperValue> PaperPerplexities::value(std::int64_t length,
                                                   const EncodingConfig& encoding) const {
  for (const Row& row : rows) {
    if (encoding.form() != row.encoding.form() || !has_numbers_of(encoding, row.encoding)) continue;
    const auto found = row.values.find(length);
    return found == row.values.end() ? std::nullopt : std::optional(found->second);
  }
  return std::nullopt;
}

}  // namespace che
