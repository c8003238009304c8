#pragma once

#include <cstdint>
#include <vector>

#include "core/random.h"

namespace che {

// The positions of a sequence's tokens in one forward pass, as encodings see them: contiguous, drawn at
// random, or given. A value, which gives the same answer whenever it is asked the same question.
class Positions {
 public:
  using Lists = std::vector<std::vector<std::int64_t>>;

  static constexpr std::int64_t kEmbeddingLayer = -1;

  // 0 .. count-1.
  Positions() = default;

  // Randomized positions (Ruoss et al., arXiv 2305.16843): a sorted uniform random subset of
  // 0 .. max_position-1 without replacement; for offsets, of 1 .. max_position-1. Each layer has its
  // own draw; all depend on `seed`, `purpose`, `step` and `batch` only.
  static Positions randomized(std::int64_t max_position, std::uint64_t seed, Purpose purpose,
                              std::uint64_t step, std::uint64_t batch = 0);

  // Lists in place of draws below `max_position`: one for all layers, or one a layer.
  static Positions given(Lists tokens, Lists offsets, std::int64_t max_position);

  // Position of each of `count` tokens, ascending. `layer` is the layer that asks, or kEmbeddingLayer for
  // encodings that add to the embedding. Throws Error where count exceeds max_position.
  std::vector<std::int64_t> of_tokens(std::int64_t layer, std::int64_t count) const;

  // Element k is the distance between tokens k apart, for encodings that read offsets; element 0 is 0,
  // ascending, `count` elements. Throws Error where count exceeds max_position.
  std::vector<std::int64_t> of_offsets(std::int64_t layer, std::int64_t count) const;

  // Randomized positions and distances lie below it; 0 for contiguous ones, which have no limit.
  std::int64_t max_position() const { return max_position_; }

  // Whether of_tokens(...) is 0 .. count-1 and of_offsets(...) too.
  bool contiguous() const { return max_position_ == 0; }

 private:
  std::vector<std::int64_t> draw(std::int64_t layer, std::int64_t first, std::int64_t count) const;

  std::int64_t max_position_ = 0;
  Lists tokens_, offsets_;
  std::uint64_t seed_ = 0;
  Purpose purpose_ = Purpose::kPositions;
  std::uint64_t step_ = 0;
  std::uint64_t batch_ = 0;
};

}  // namespace che
