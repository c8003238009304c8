#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/published/paper_table.h"
#include "texts/corpus.h"

namespace che {

// A table of perplexities of the DAPE paper (arXiv 2405.14722): decoders trained on windows of one length.
// They are of GPT-2's tokens and count the last kPaperCounted predictions of a window.
struct PaperPerplexities {
  struct Row {
    EncodingConfig encoding;
    std::map<std::int64_t, PaperValue> values;  // By test length.
  };

  PaperTable table = PaperTable::kArxiv;
  PaperText text = PaperText::kArxiv;
  std::int64_t trained = 0;  // Tokens of a window of training.
  std::string about;         // The text and the runs behind a value, in words.
  std::vector<Row> rows = {};

  // Returns the paper's perplexity at a test length for an encoding of ours, if the table has it. An encoding
  // with other numbers than its defaults, and DAPE's D other than the paper's 32, has none.
  std::optional<PaperValue> value(std::int64_t length, const EncodingConfig& encoding) const;
};
inline constexpr std::int64_t kPaperCounted = 256;

const std::vector<PaperPerplexities>& paper_perplexities();

}  // namespace che
