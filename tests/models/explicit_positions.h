#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/settings/positions.h"

namespace che {

// Given lists in place of draws: one for all layers, or one a layer.
class ExplicitPositions : public Positions {
 public:
  ExplicitPositions(std::vector<std::vector<std::int64_t>> tokens,
                    std::vector<std::vector<std::int64_t>> offsets, std::int64_t max_position)
      : tokens_(std::move(tokens)), offsets_(std::move(offsets)), max_position_(max_position) {}

  // `distances` lack the token itself, as in the reference files.
  static ExplicitPositions from_distances(std::vector<std::vector<std::int64_t>> distances,
                                          std::int64_t max_position) {
    for (auto& list : distances) list.insert(list.begin(), 0);
    return {{}, std::move(distances), max_position};
  }

  std::vector<std::int64_t> of_tokens(std::int64_t layer, std::int64_t count) const override {
    return of(tokens_, layer, count);
  }
  std::vector<std::int64_t> of_offsets(std::int64_t layer, std::int64_t count) const override {
    return of(offsets_, layer, count);
  }
  std::int64_t max_position() const override { return max_position_; }

 private:
  static std::vector<std::int64_t> of(const std::vector<std::vector<std::int64_t>>& lists, std::int64_t layer,
                                      std::int64_t count) {
    const std::size_t index = lists.size() > 1 && layer >= 0 ? static_cast<std::size_t>(layer) : 0;
    const std::vector<std::int64_t>& list = lists.at(index);
    return {list.begin(), list.begin() + count};
  }

  std::vector<std::vector<std::int64_t>> tokens_;
  std::vector<std::vector<std::int64_t>> offsets_;
  std::int64_t max_position_;
};

}  // namespace che
