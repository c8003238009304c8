#include "models/settings/positions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "core/error.h"

namespace che {

namespace {

Positions::List multiples(double step, std::int64_t count) {
  Positions::List positions;
  for (std::int64_t k = 0; k < count; ++k) positions.push_back(step * static_cast<double>(k));
  return positions;
}

Positions::List first_of(const Positions::Lists& lists, std::int64_t layer, std::int64_t count) {
  const std::size_t index = lists.size() > 1 && layer >= 0 ? static_cast<std::size_t>(layer) : 0;
  const Positions::List& list = lists.at(index);
  return {list.begin(), list.begin() + count};
}

}  // namespace

Positions Positions::drawn(PositionSource source, std::int64_t max_position, std::uint64_t seed,
                           Purpose purpose, std::uint64_t step, std::uint64_t batch) {
  Positions positions;
  positions.source_ = source;
  positions.max_position_ = max_position;
  positions.seed_ = seed;
  positions.purpose_ = purpose;
  positions.step_ = step;
  positions.batch_ = batch;
  return positions;
}

Positions Positions::given(Lists tokens, Lists offsets, std::int64_t max_position) {
  Positions positions;
  positions.source_ = PositionSource::kRandomized;
  positions.max_position_ = max_position;
  positions.tokens_ = std::move(tokens);
  positions.offsets_ = std::move(offsets);
  return positions;
}

Positions::List Positions::of_tokens(std::int64_t layer, std::int64_t count) const {
  return tokens_.empty() ? draw(layer, 0, count) : first_of(tokens_, layer, count);
}

Positions::List Positions::of_offsets(std::int64_t layer, std::int64_t count) const {
  if (!draws_distances()) return of_tokens(layer, count);
  if (!offsets_.empty()) return first_of(offsets_, layer, count);
  List distances = draw(layer, 1, count - 1);
  distances.insert(distances.begin(), 0);
  return distances;
}

Positions::List Positions::draw(std::int64_t layer, std::int64_t first, std::int64_t count) const {
  if (contiguous()) return multiples(1, count);
  RandomStream random(seed_, purpose_, step_, batch_, static_cast<std::uint32_t>(layer + 1));
  if (source_ == PositionSource::kEqualMean) return multiples(-std::log1p(-random.uniform()), count);
  if (source_ == PositionSource::kRandomizedReal) {
    List positions(static_cast<std::size_t>(count));
    for (double& position : positions) position = random.uniform() * static_cast<double>(max_position_);
    std::sort(positions.begin(), positions.end());
    return positions;
  }
  const std::int64_t available = max_position_ - first;
  if (count > available) {
    throw Error(
        fmt::format("randomized positions: {} tokens need as many positions below max_position {}; "
                    "raise encoding.max_position or shorten the sequences",
                    first + count, max_position_));
  }
  // Floyd's subset algorithm: `count` draws, every subset equally likely.
  std::unordered_set<std::int64_t> chosen;
  chosen.reserve(static_cast<std::size_t>(count));
  for (std::int64_t bound = available - count; bound < available; ++bound) {
    const std::int64_t candidate = random.below(static_cast<std::uint64_t>(bound) + 1);
    chosen.insert(chosen.contains(candidate) ? bound : candidate);
  }
  List positions;
  for (const std::int64_t position : chosen) positions.push_back(static_cast<double>(position + first));
  std::sort(positions.begin(), positions.end());
  return positions;
}

}  // namespace che
