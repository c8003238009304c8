#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "texts/corpus.h"

namespace che {

// How texts are read and divided.
struct CorpusPlan {
  std::string name = {};                            // Empty: that of the folder that is written.
  std::vector<std::filesystem::path> sources = {};  // Files and folders, in this order.
  std::string field = "text";                       // The member of a line of .jsonl that is the text.
  std::optional<std::pair<std::string, std::string>> where =
      {};                                            // A member's path ("meta.set") and its value.
  std::array<std::int64_t, 3> split = {969, 30, 1};  // Shares of the parts, in file order.
  std::string source = "the user's";
  std::string licence = "the user's";
  std::optional<PaperText> paper = {};
};

// The findings of a reading, beside the corpus itself.
struct ReadTexts {
  std::int64_t empty = 0;    // Documents without text, which are dropped.
  std::int64_t skipped = 0;  // Lines of .jsonl that `where` leaves out.
  std::int64_t others = 0;   // Files of folders with another ending, which are not read.
};

// A part of a document, and whether it is the last one, which may be empty.
using TakePart = std::function<void(std::string_view part, bool is_last)>;

// The longest line of .jsonl, which is read as a whole.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 26;

// Calls `take` with the parts of each document of a file or, sorted by name, of the files of a folder and its
// folders. A .txt is a document, and a line of .jsonl or .jsonl.zst has one. Memory grows with the longest
// line alone. Throws Error (usage) that names file and line.
ReadTexts for_each_document(const CorpusPlan& plan, const TakePart& take);

// Makes a corpus of bytes in `folder`, which may not hold one. Memory is that of for_each_document() and of
// the index, which has 8 bytes for each document.
ReadTexts make_corpus(const CorpusPlan& plan, const std::filesystem::path& folder);

// Makes a corpus of copies of GPT-NeoX's PREFIX.bin and PREFIX.idx. Reads every id once. Throws Error (usage)
// for ids that are not below `vocabulary`. Returns how many documents do not end with `end`, which GPT-NeoX
// writes behind them with --append-eod alone.
std::int64_t import_corpus(const std::filesystem::path& prefix, const CorpusPlan& plan,
                           std::int64_t vocabulary, std::int64_t end, const std::filesystem::path& folder);

// Documents of each part, as GPT-NeoX rounds them (get_train_valid_test_split_ of its
// megatron/data/data_utils), but none where its rounding would make a part negative.
std::array<std::int64_t, 3> split_documents(std::int64_t documents, const std::array<std::int64_t, 3>& split);

}  // namespace che
