#include "models/settings/positions.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "core/error.h"

namespace che {

std::vector<std::int64_t> ContiguousPositions::of_tokens(std::int64_t /*layer*/, std::int64_t count) const {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

std::vector<std::int64_t> ContiguousPositions::of_offsets(std::int64_t layer, std::int64_t count) const {
  return of_tokens(layer, count);
}

RandomizedPositions::RandomizedPositions(std::int64_t max_position, std::uint64_t seed, Purpose purpose,
                                         std::uint64_t step, std::uint64_t batch)
    : max_position_(max_position), seed_(seed), purpose_(purpose), step_(step), batch_(batch) {}

std::vector<std::int64_t> RandomizedPositions::of_tokens(std::int64_t layer, std::int64_t count) const {
  return draw(layer, 0, count);
}

std::vector<std::int64_t> RandomizedPositions::of_offsets(std::int64_t layer, std::int64_t count) const {
  std::vector<std::int64_t> distances = draw(layer, 1, count - 1);
  distances.insert(distances.begin(), 0);
  return distances;
}

std::vector<std::int64_t> RandomizedPositions::draw(std::int64_t layer, std::int64_t first,
                                                    std::int64_t count) const {
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
