#include "models/settings/positions.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "core/error.h"

namespace che {

namespace {

std::vector<std::int64_t> counted(std::int64_t count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

std::vector<std::int64_t> first_of(const Positions::Lists& lists, std::int64_t layer, std::int64_t count) {
  const std::size_t index = lists.size() > 1 && layer >= 0 ? static_cast<std::size_t>(layer) : 0;
  const std::vector<std::int64_t>& list = lists.at(index);
  return {list.begin(), list.begin() + count};
}

}  // namespace

Positions Positions::randomized(std::int64_t max_position, std::uint64_t seed, Purpose purpose,
                                std::uint64_t step, std::uint64_t batch) {
  Positions positions;
  positions.max_position_ = max_position;
  positions.seed_ = seed;
  positions.purpose_ = purpose;
  positions.step_ = step;
  positions.batch_ = batch;
  return positions;
}

Positions Positions::given(Lists tokens, Lists offsets, std::int64_t max_position) {
  Positions positions;
  positions.max_position_ = max_position;
  positions.tokens_ = std::move(tokens);
  positions.offsets_ = std::move(offsets);
  return positions;
}

std::vector<std::int64_t> Positions::of_tokens(std::int64_t layer, std::int64_t count) const {
  if (contiguous()) return counted(count);
  return tokens_.empty() ? draw(layer, 0, count) : first_of(tokens_, layer, count);
}

std::vector<std::int64_t> Positions::of_offsets(std::int64_t layer, std::int64_t count) const {
  if (contiguous()) return counted(count);
  if (!offsets_.empty()) return first_of(offsets_, layer, count);
  std::vector<std::int64_t> distances = draw(layer, 1, count - 1);
  distances.insert(distances.begin(), 0);
  return distances;
}

std::vector<std::int64_t> Positions::draw(std::int64_t layer, std::int64_t first, std::int64_t count) const {
  const std::int64_t available = max_position_ - first;
  if (count > available) {
    throw Error(
        fmt::format("randomized positions: {} tokens need as many positions below max_position {}; "
                    "raise encoding.max_position or shorten the sequences",
                    first + count, max_position_));
  }
  // Floyd's subset algorithm: `count` draws, every subset equally likely.
  RandomStream random(seed_, purpose_, step_, batch_, static_cast<std::uint32_t>(layer + 1));
  std::unordered_set<std::int64_t> chosen;
  chosen.reserve(static_cast<std::size_t>(count));
  for (std::int64_t bound = available - count; bound < available; ++bound) {
    const std::int64_t candidate = random.below(static_cast<std::uint64_t>(bound) + 1);
    chosen.insert(chosen.contains(candidate) ? bound : candidate);
  }
  std::vector<std::int64_t> positions(chosen.begin(), chosen.end());
  for (std::int64_t& position : positions) position += first;
  std::sort(positions.begin(), positions.end());
  return positions;
}

}  // namespace che
