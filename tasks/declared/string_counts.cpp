#include "tasks/declared/string_counts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

#include "tasks/symbols.h"

namespace che {
namespace {

// A task keeps two sets of so many counts at most, which have 128 MiB each.
constexpr std::size_t kMaxCounts = std::size_t{1} << 23;

constexpr std::int64_t kNoExponent = std::numeric_limits<std::int64_t>::min();

// The largest exponent among the counts after each symbol; kNoExponent where all are 0.
std::int64_t largest_exponent(const FiniteAutomaton& automaton, const std::vector<ScaledNumber>& after,
                              std::int32_t state) {
  std::int64_t largest = kNoExponent;
  for (std::size_t symbol = 0; symbol < automaton.symbols.size(); ++symbol) {
    const ScaledNumber& count = after[static_cast<std::size_t>(automaton.step(state, symbol))];
    if (!count.is_zero()) largest = std::max(largest, count.exponent);
  }
  return largest;
}

}  // namespace

StringCounts::StringCounts(const FiniteAutomaton& automaton, bool accepted) : automaton_(automaton) {
  std::vector<ScaledNumber> empty(automaton.states());
  for (std::size_t state = 0; state < empty.size(); ++state) {
    if ((automaton.accepting[state] != 0) == accepted) empty[state] = ScaledNumber::of(1, 0);
  }
  counts_.push_back(std::move(empty));
}

std::int64_t StringCounts::max_length() const {
  // Each count is a sum over the symbols, so that many symbols allow fewer counts.
  const std::size_t pairs = std::max<std::size_t>(automaton_.symbols.size() / 2, 1);
  return static_cast<std::int64_t>(kMaxCounts / automaton_.states() / pairs) - 1;
}

void StringCounts::extend(std::size_t length) const {
  {
    const std::shared_lock lock(mutex_);
    if (counts_.size() > length) return;
  }
  const std::unique_lock lock(mutex_);
  while (counts_.size() <= length) {
    const std::vector<ScaledNumber>& after = counts_.back();
    std::vector<ScaledNumber> counts(after.size());
    for (std::size_t state = 0; state < counts.size(); ++state) {
      const auto id = static_cast<std::int32_t>(state);
      const std::int64_t scale = largest_exponent(automaton_, after, id);
      if (scale == kNoExponent) continue;
      double sum = 0;
      for (std::size_t symbol = 0; symbol < automaton_.symbols.size(); ++symbol) {
        sum += after[static_cast<std::size_t>(automaton_.step(id, symbol))].scaled(scale);
      }
      counts[state] = ScaledNumber::of(sum, scale);
    }
    counts_.push_back(std::move(counts));
  }
}

ScaledNumber StringCounts::count(std::int64_t length) const {
  const auto index = static_cast<std::size_t>(length);
  extend(index);
  const std::shared_lock lock(mutex_);
  return counts_[index][static_cast<std::size_t>(automaton_.start)];
}

std::size_t StringCounts::choose(RandomStream& random, const std::vector<ScaledNumber>& after,
                                 std::int32_t state) const {
  const std::int64_t scale = largest_exponent(automaton_, after, state);
  std::array<double, kMaxSymbols> ways;
  double sum = 0;
  for (std::size_t symbol = 0; symbol < automaton_.symbols.size(); ++symbol) {
    ways[symbol] = after[static_cast<std::size_t>(automaton_.step(state, symbol))].scaled(scale);
    sum += ways[symbol];
  }
  double left = random.uniform() * sum;
  std::size_t chosen = 0;
  for (std::size_t symbol = 0; symbol < automaton_.symbols.size(); ++symbol) {
    if (ways[symbol] == 0) continue;
    chosen = symbol;  // Rounding may leave a remainder behind the last one.
    if (left < ways[symbol]) break;
    left -= ways[symbol];
  }
  return chosen;
}

void StringCounts::draw(RandomStream& random, std::span<std::uint8_t> input) const {
  extend(input.size());
  const std::shared_lock lock(mutex_);
  std::int32_t state = automaton_.start;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::size_t symbol = choose(random, counts_[input.size() - i - 1], state);
    input[i] = static_cast<std::uint8_t>(symbol);
    state = automaton_.step(state, symbol);
  }
}

}  // namespace che
