#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "texts/corpus.h"

namespace che {

// A permutation of 0 .. size - 1 that is computed place by place. It is a Feistel network of six rounds over
// the next power of four, whose round function is Philox keyed by (seed, epoch). It is applied until the
// value lies below `size`.
class KeyedPermutation {
 public:
  KeyedPermutation(std::int64_t size, std::uint64_t seed, std::uint64_t epoch);

  std::int64_t at(std::int64_t place) const;

 private:
  std::uint64_t permuted(std::uint64_t value) const;

  std::uint64_t size_;
  std::uint64_t seed_;
  std::uint64_t epoch_;
  unsigned half_bits_;
};

// Whether a window of training may run over the ends of documents.
enum class DocumentUse : std::uint8_t { kPacked, kSeparate };

// The windows of training: length + 1 neighbouring tokens of the train part, of which a model reads the first
// `length` and predicts the last `length`. Packed, epoch e cuts the part, documents and their end tokens in
// one line, into chunks of `length` tokens from a start in [0, length) that is drawn for e. Separate, each
// document is cut so, and one too short for a window is left out. The chunks' order is a permutation keyed by
// (seed, e), so that an example's number alone gives its window.
class TrainingWindows {
 public:
  // Each span of tokens that is cut on its own, such as a document, takes so many bytes.
  static constexpr double kSpanBytes = sizeof(TextSpan) + sizeof(std::int64_t);

  // Throws Error (usage) where no window fits in. `corpus` outlives it.
  TrainingWindows(const Corpus& corpus, std::int64_t length, DocumentUse use, std::uint64_t seed);

  // Windows of an epoch.
  std::int64_t count() const { return first_windows_.back(); }
  // The first token of window number `example`, which counts over all epochs.
  std::int64_t first_token(std::int64_t example) const;

 private:
  std::int64_t length_;
  std::uint64_t seed_;
  std::vector<TextSpan> spans_;              // Tokens that are cut on their own.
  std::vector<std::int64_t> first_windows_;  // Of each span in an epoch, and the end of the last.
};

// A window of evaluation: it ends before token `end` of the corpus.
struct EvaluationWindow {
  std::int64_t document = 0;  // The document that its last token is of.
  std::int64_t end = 0;

  auto operator<=>(const EvaluationWindow&) const = default;
};

// `count` windows' ends among the documents of `part` that are longer than `longest` tokens, in proportion to
// their length, evenly spaced in each, with a phase that `seed` draws. A window of any length up to `longest`
// that ends there lies within its document, so that windows of all lengths end with the same tokens. Throws
// Error (usage) with the remedy where no document is that long, and where windows would be the same.
std::vector<EvaluationWindow> aligned_windows(const Corpus& corpus, TextPart part, std::int64_t longest,
                                              std::int64_t count, std::uint64_t seed);

// `count` of the chunks of `length` tokens that the part is cut into, documents and end tokens in one line,
// in an order that `seed` draws. Throws Error (usage) where there are fewer.
std::vector<EvaluationWindow> packed_windows(const Corpus& corpus, TextPart part, std::int64_t length,
                                             std::int64_t count, std::uint64_t seed);

// `count` windows that end every `stride` tokens, from a place that `seed` draws, in documents of the part
// that are longer than `longest` tokens: those of the first document first. Throws Error (usage) where there
// are fewer.
std::vector<EvaluationWindow> sliding_windows(const Corpus& corpus, TextPart part, std::int64_t longest,
                                              std::int64_t stride, std::int64_t count, std::uint64_t seed);

}  // namespace che
