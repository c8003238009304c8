#include "texts/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/random.h"

namespace che {
namespace {

std::string_view name_of(TextPart part) { return text_part_names()[static_cast<std::size_t>(part)]; }

// The documents of a part that have a window of `longest` tokens and one to predict.
std::vector<std::int64_t> long_documents(const Corpus& corpus, TextPart part, std::int64_t longest) {
  const TextSpan documents = corpus.documents_of(part);
  std::vector<std::int64_t> found;
  std::int64_t most = 0;
  for (std::int64_t i = documents.first; i < documents.end(); ++i) {
    most = std::max(most, corpus.document(i).count);
    if (corpus.document(i).count > longest) found.push_back(i);
  }
  if (!found.empty()) return found;
  throw Error(fmt::format(
      "no document of the {} part of {} is longer than {} tokens, the longest length; the longest has {}",
      name_of(part), corpus.card().name, longest, most));
}

}  // namespace

KeyedPermutation::KeyedPermutation(std::int64_t size, std::uint64_t seed, std::uint64_t epoch)
    : size_(static_cast<std::uint64_t>(size)),
      seed_(seed),
      epoch_(epoch),
      half_bits_(std::max(1U, (static_cast<unsigned>(std::bit_width(size_ - 1)) + 1) / 2)) {}

std::int64_t KeyedPermutation::at(std::int64_t place) const {
  std::uint64_t value = permuted(static_cast<std::uint64_t>(place));
  while (value >= size_) value = permuted(value);
  return static_cast<std::int64_t>(value);
}

std::uint64_t KeyedPermutation::permuted(std::uint64_t value) const {
  constexpr std::uint32_t kRounds = 6;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (std::uint32_t round = 1; round <= kRounds; ++round) {  // Substream 0 draws the starts of chunks.
    const std::uint64_t next = left ^ (RandomStream(seed_, Purpose::kData, epoch_, right, round)() & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

TrainingWindows::TrainingWindows(const Corpus& corpus, std::int64_t length, DocumentUse use,
                                 std::uint64_t seed)
    : length_(length), seed_(seed), first_windows_{0} {
  const auto add = [&](TextSpan span) {
    // One token more than all chunks is predicted; packed, a start in [0, length) is left for them.
    const std::int64_t windows =
        (use == DocumentUse::kPacked ? span.count - length : span.count - 1) / length;
    if (windows < 1) return;
    spans_.push_back(span);
    first_windows_.push_back(first_windows_.back() + windows);
  };
  if (use == DocumentUse::kPacked) {
    add(corpus.tokens_of(TextPart::kTrain));
  } else {
    const TextSpan documents = corpus.documents_of(TextPart::kTrain);
    for (std::int64_t i = documents.first; i < documents.end(); ++i) add(corpus.document(i));
    spans_.shrink_to_fit();  // There may be millions, for each length.
    first_windows_.shrink_to_fit();
  }
  if (spans_.empty()) {
    const std::string& name = corpus.card().name;
    if (use == DocumentUse::kSeparate) {
      throw Error(
          fmt::format("no document of the train part of {} has the {} tokens of a window and its last "
                      "prediction; train at a shorter length, or with text.documents: packed",
                      name, length + 1));
    }
    throw Error(fmt::format(
        "the train part of {} has {} tokens, too few for windows of {}; train at a shorter length", name,
        corpus.tokens_of(TextPart::kTrain).count, length));
  }
}

std::int64_t TrainingWindows::first_token(std::int64_t example) const {
  const auto epoch = static_cast<std::uint64_t>(example / count());
  const std::int64_t window = KeyedPermutation(count(), seed_, epoch).at(example % count());
  const auto span = std::ranges::upper_bound(first_windows_, window) - first_windows_.begin() - 1;
  const std::int64_t number = window - first_windows_[static_cast<std::size_t>(span)];
  const std::int64_t windows =
      first_windows_[static_cast<std::size_t>(span) + 1] - first_windows_[static_cast<std::size_t>(span)];
  const TextSpan& tokens = spans_[static_cast<std::size_t>(span)];
  // What the chunks leave of the span, at most `length` places to start from.
  const std::int64_t starts = std::min(length_, tokens.count - windows * length_);
  const std::uint32_t start = RandomStream(seed_, Purpose::kData, epoch, static_cast<std::uint64_t>(span))
                                  .below(static_cast<std::uint64_t>(starts));
  return tokens.first + start + number * length_;
}

std::vector<EvaluationWindow> aligned_windows(const Corpus& corpus, TextPart part, std::int64_t longest,
                                              std::int64_t count, std::uint64_t seed) {
  const std::vector<std::int64_t> documents = long_documents(corpus, part, longest);
  std::int64_t tokens = 0;
  for (const std::int64_t i : documents) tokens += corpus.document(i).count;
  const double phase = RandomStream(seed, Purpose::kEvaluation).uniform();
  std::vector<EvaluationWindow> windows;
  std::int64_t passed = 0;  // Tokens of the documents before.
  std::int64_t given = 0;   // Windows of these.
  for (const std::int64_t i : documents) {
    const TextSpan document = corpus.document(i);
    passed += document.count;
    // Shares that are rounded so add up to `count`.
    const std::int64_t until =
        std::llround(static_cast<double>(count) * static_cast<double>(passed) / static_cast<double>(tokens));
    const std::int64_t share = until - given;
    const std::int64_t ends = document.count - longest;  // Places where a window may end.
    if (share > ends) {
      throw Error(fmt::format(
          "a document of the {} part of {} has {} windows of {} tokens, and its share of {} windows is {}",
          name_of(part), corpus.card().name, ends, longest, count, share));
    }
    for (std::int64_t n = 0; n < share; ++n) {
      const double place = (static_cast<double>(n) + phase) / static_cast<double>(share);
      windows.push_back(
          {.document = i,
           .end = document.first + longest + 1 +
                  std::min(ends - 1, static_cast<std::int64_t>(place * static_cast<double>(ends)))});
    }
    given = until;
  }
  return windows;
}

std::vector<EvaluationWindow> packed_windows(const Corpus& corpus, TextPart part, std::int64_t length,
                                             std::int64_t count, std::uint64_t seed) {
  const TextSpan tokens = corpus.tokens_of(part);
  const std::int64_t chunks = (tokens.count - 1) / length;
  if (chunks < count) {
    throw Error(fmt::format("the {} part of {} has {} windows of {} tokens, and {} are asked for",
                            name_of(part), corpus.card().name, chunks, length, count));
  }
  const KeyedPermutation order(chunks, seed, static_cast<std::uint64_t>(length));
  const TextSpan documents = corpus.documents_of(part);
  std::vector<EvaluationWindow> windows;
  for (std::int64_t n = 0; n < count; ++n) {
    const std::int64_t end = tokens.first + (order.at(n) + 1) * length + 1;
    std::int64_t low = documents.first;
    for (std::int64_t high = documents.end(); high - low > 1;) {
      const std::int64_t middle = std::midpoint(low, high);
      (corpus.document(middle).first < end ? low : high) = middle;
    }
    windows.push_back({.document = low, .end = end});
  }
  return windows;
}

std::vector<EvaluationWindow> sliding_windows(const Corpus& corpus, TextPart part, std::int64_t longest,
                                              std::int64_t stride, std::int64_t count, std::uint64_t seed) {
  const std::uint32_t phase =
      RandomStream(seed, Purpose::kEvaluation).below(static_cast<std::uint64_t>(stride));
  std::vector<EvaluationWindow> windows;
  for (const std::int64_t i : long_documents(corpus, part, longest)) {
    const TextSpan document = corpus.document(i);
    for (std::int64_t end = document.first + longest + 1 + phase; end <= document.end(); end += stride) {
      windows.push_back({.document = i, .end = end});
      if (static_cast<std::int64_t>(windows.size()) == count) return windows;
    }
  }
  throw Error(
      fmt::format("the {} part of {} has {} windows of {} tokens that end every {}, and {} are asked for",
                  name_of(part), corpus.card().name, windows.size(), longest, stride, count));
}

}  // namespace che
