#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"

namespace che {

// Documents belong to one part as a whole.
enum class TextPart : std::uint8_t { kTrain, kValidation, kTest };

// "train", "validation", "test".
const std::vector<std::string>& text_part_names();

// The texts that the DAPE paper (arXiv 2405.14722) prints perplexities of.
enum class PaperText : std::uint8_t { kArxiv, kBooks3 };

// "arxiv", "books3".
const std::vector<std::string>& paper_text_names();
// Throws Error (usage) for another name.
PaperText paper_text_named(std::string_view name);

// Neighbouring items: tokens of a corpus, or its documents.
struct TextSpan {
  std::int64_t first = 0;
  std::int64_t count = 0;

  std::int64_t end() const { return first + count; }
};

// The longest name of a corpus or of one of its files.
inline constexpr std::size_t kMaxCorpusName = 60;

// A corpus apart from its tokens: what corpus.json in its folder says.
struct CorpusCard {
  struct File {
    std::string name;
    std::string sha256;
  };

  std::string name = {};
  std::string tokenizer;
  std::int64_t vocabulary = 0;  // Token ids are below it.
  std::int64_t end = 0;         // The token behind each document.
  std::int64_t documents = 0;
  std::int64_t tokens = 0;  // Those behind the documents included.
  std::int64_t bytes = 0;   // The text's; 0 where they are not known.
  std::array<std::int64_t, 3> parts =
      {};  // Documents of each TextPart, which follow each other in this order.
  std::string source = {};
  std::string licence = {};
  // The paper's text that this corpus was made from: tables may show the paper's perplexities beside it.
  std::optional<PaperText> paper = {};
  // tokens.bin and tokens.idx, or the texts of a corpus that is stored as texts, a document each.
  std::vector<File> files = {};

  // Whether a perplexity is of GPT-2's tokens, as in the paper; other tokenizers have another end.
  bool has_gpt2_tokens() const { return end == kGpt2End; }

  bool is_tokenized() const { return files.front().name == kTokenFile; }

  // 16 hexadecimal digits that change with everything that decides on tokens, documents and parts.
  std::string hash() const;

  std::string to_json() const;

  static constexpr std::int64_t kGpt2End = 50'256;
  static constexpr const char* kFileName = "corpus.json";
  static constexpr const char* kTokenFile = "tokens.bin";
  static constexpr const char* kIndexFile = "tokens.idx";
};

// Reads corpus.json in `folder`. Throws Error (usage) that names the file, the key and what is allowed.
CorpusCard read_corpus_card(const std::filesystem::path& folder);

// Returns the folder of the corpus that a config or a command names. The name is a folder, or that of a
// corpus that comes with che. These lie in data/text, beside the folder of the program or else of the source
// that it was built from. Throws Error (usage) where there is none.
std::filesystem::path corpus_folder(std::string_view name_or_folder);

// The names of the corpora that come with che.
std::vector<std::string> shipped_corpora();

// The documents of a corpus as token ids. Stateless after construction; every function may be called from
// several threads.
class Corpus {
 public:
  // Opens the token files, or reads the texts, and compares the SHA-256 of each file; once in a
  // process. Throws Error (usage) with file and remedy for files that are missing, cut off or of other
  // contents than corpus.json says.
  static std::shared_ptr<const Corpus> open(const std::filesystem::path& folder);
  // Opens one whose corpus.json is not written yet. `card` is what it will say.
  static std::unique_ptr<const Corpus> unlisted(const std::filesystem::path& folder, const CorpusCard& card);
  Corpus(const Corpus&) = delete;
  Corpus& operator=(const Corpus&) = delete;

  const CorpusCard& card() const { return card_; }

  // Returns the tokens of a document and the end token behind it.
  TextSpan document(std::int64_t index) const;
  TextSpan documents_of(TextPart part) const;
  TextSpan tokens_of(TextPart part) const;

  // Copies tokens first .. first + count - 1. Throws Error (usage) for an id beyond the vocabulary, and where
  // the corpus has no such tokens, or its file has been cut off since.
  void copy_tokens(std::int64_t first, std::int64_t count, std::int32_t* out) const;

  // Returns its files with the SHA-256 of what they hold now.
  std::vector<CorpusCard::File> hashed_files() const;

 private:
  Corpus(std::filesystem::path folder, CorpusCard card);
  // Throws Error (usage) unless every file has the contents that corpus.json says.
  void verify() const;
  void read_texts();
  void open_tokens();
  template <class Id>
  void read_tokens(std::int64_t first, std::span<Id> ids) const;

  std::filesystem::path folder_;
  CorpusCard card_;
  std::vector<std::int64_t> starts_;  // The first token of each document, and the end of the last.
  std::vector<std::uint16_t> read_;   // The tokens of texts.
  std::vector<CorpusCard::File> read_hashes_;
  // tokens.bin. It is read and not mapped: a process that reads a mapped file behind a new end is killed.
  Descriptor token_file_;
  std::int64_t written_ = 0;  // When it was written, in nanoseconds, as it was opened.
  std::filesystem::path token_path_;
  std::int64_t token_bytes_ = 2;
};

// The byte tokenizer: a byte is its own id, and this token follows each document.
inline constexpr std::int32_t kByteEnd = 256;

// Token ids as text for a terminal: bytes as they are, "<end>" for the token behind a document, other
// tokenizers' ids as numbers.
std::string token_text(const CorpusCard& card, const std::vector<std::int32_t>& tokens);

}  // namespace che
