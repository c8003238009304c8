#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/descriptor.h"
#include "core/files.h"

namespace che {

// GPT-NeoX's files of tokens (its megatron/data/indexed_dataset.py, MMapIndexedDataset), little-endian. The
// index is "MMIDIDX\0\0", u64 1, u8 type (8: uint16, 4: int32), u64 sequences, u64 documents + 1, int32
// lengths[sequences], int64 byte offsets[sequences], int64 first sequences[documents + 1]; the other file is
// the ids, sequence after sequence.
struct TokenIndex {
  std::int64_t token_bytes = 2;      // 2 or 4
  std::vector<std::int64_t> starts;  // The first token of each document, and the end of the last.
};

// Reads an index. Throws Error (usage) that says what is wrong for one that is cut off or of another form, or
// whose sequences do not follow each other without gaps.
TokenIndex read_token_index(const std::filesystem::path& path);

// The bytes of an index whose documents are a sequence each.
std::string token_index_bytes(const TokenIndex& index);

// Writes tokens.bin, document after document; memory does not grow with them but by 8 bytes each. Without
// finish() no file is left.
class TokenWriter {
 public:
  // Ids below 2^16 take two bytes each where `vocabulary` allows it.
  TokenWriter(const std::filesystem::path& path, std::int64_t vocabulary);

  // Adds to a document, which these tokens end or leave open.
  void add(const std::vector<std::int32_t>& tokens, bool is_end = true);
  // Returns the index of what was written.
  TokenIndex finish();

 private:
  FileReplacement file_;
  TokenIndex index_;
  std::int64_t count_ = 0;  // Tokens, those of the open document included.
};

}  // namespace che
