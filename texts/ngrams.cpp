#include "texts/ngrams.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace che {
namespace {

// The hash of a context with one more token before it; the finalizer of SplitMix64.
std::uint64_t longer(std::uint64_t context, std::int32_t token) {
  std::uint64_t z = context + 0x9E3779B97F4A7C15U * (static_cast<std::uint64_t>(token) + 1);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace

Ngrams::Ngrams(const Corpus& corpus, std::size_t order) : vocabulary_(corpus.card().vocabulary) {
  const TextSpan part = corpus.tokens_of(TextPart::kTrain);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(std::min(part.count, kMostTokens)));
  corpus.copy_tokens(part.first, static_cast<std::int64_t>(tokens.size()), tokens.data());
  std::vector<std::uint64_t> contexts(tokens.size());  // That of each token, at the order at hand.
  std::vector<std::pair<std::uint64_t, std::int32_t>> occurrences;
  for (std::size_t k = 0; k <= order; ++k) {
    occurrences.clear();
    for (std::size_t i = k; i < tokens.size(); ++i) {
      if (k > 0) contexts[i] = longer(contexts[i], tokens[i - k]);
      occurrences.emplace_back(contexts[i], tokens[i]);
    }
    std::ranges::sort(occurrences);
    std::vector<Gram>& grams = grams_.emplace_back();
    for (std::size_t i = 0; i < occurrences.size(); ++i) {
      const auto& [context, token] = occurrences[i];
      if (i == 0 || occurrences[i - 1] != occurrences[i]) grams.push_back({context, token, 0});
      grams.back().until = static_cast<std::int64_t>(i) + 1;
    }
  }
}

std::vector<double> Ngrams::losses(std::span<const std::int32_t> context, std::int32_t next) const {
  std::vector<double> losses;
  double probability = 1 / static_cast<double>(vocabulary_);
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < grams_.size(); ++k) {
    if (k > 0 && k <= context.size()) hash = longer(hash, context[context.size() - k]);
    const std::vector<Gram>& grams = grams_[k];
    const auto first = std::ranges::lower_bound(grams, hash, {}, &Gram::context);
    const auto end = std::ranges::upper_bound(grams, hash, {}, &Gram::context);
    if (k <= context.size() && first != end) {
      const auto until = [&](auto place) { return place == grams.begin() ? 0 : std::prev(place)->until; };
      const auto distinct = static_cast<double>(end - first);
      const auto all = static_cast<double>(until(end) - until(first));
      const auto place = std::lower_bound(
          first, end, next, [](const Gram& gram, std::int32_t token) { return gram.token < token; });
      const bool occurs = place != end && place->token == next;
      const double count = occurs ? static_cast<double>(place->until - until(place)) : 0;
      probability = (count + distinct * probability) / (all + distinct);
    }
    losses.push_back(-std::log(probability));
  }
  return losses;
}

}  // namespace che
