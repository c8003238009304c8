#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "texts/corpus.h"

namespace che {

// Predicts a token from counts of what followed the tokens before it in the train part of a corpus. Order k
// looks at the last k tokens h, and interpolates with the order below, from the uniform distribution up:
//
//   p_k(t | h) = (c(h t) + u(h) p_(k-1)(t | h')) / (c(h) + u(h)),
//
// where c counts, u(h) is the number of distinct tokens behind h, and h' is h without its first token (method
// C of Witten and Bell, IEEE Transactions on Information Theory 37 (4), 1991). A context that never occurred
// has the probability of the order below.
class Ngrams {
 public:
  static constexpr std::int64_t kMostTokens = std::int64_t{1} << 23;

  // Counts up to `order` in the train part, or in its first kMostTokens tokens.
  Ngrams(const Corpus& corpus, std::size_t order);

  // Nats of `next` behind the last tokens of `context` at each order from 0 on; (orders).
  std::vector<double> losses(std::span<const std::int32_t> context, std::int32_t next) const;

 private:
  struct Gram {
    std::uint64_t context;  // A hash of its tokens.
    std::int32_t token;
    std::int64_t until;  // Occurrences of this and all grams before it.
  };

  std::vector<std::vector<Gram>> grams_;  // By order; sorted by context and token.
  std::int64_t vocabulary_;
};

}  // namespace che
