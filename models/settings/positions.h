#pragma once

#include <cstdint>
#include <vector>

#include "core/random.h"

namespace che {

// Where the tokens of a sequence stand, as encodings see it. One object serves one forward pass: it
// gives the same answer whenever it is asked the same question.
class Positions {
 public:
  virtual ~Positions() = default;

  // Position of each of `count` tokens, ascending. `layer` is the layer that asks, or
  // kEmbeddingLayer for encodings that add to the embedding.
  virtual std::vector<std::int64_t> of_tokens(std::int64_t layer, std::int64_t count) const = 0;

  // Element k is the distance between tokens k apart, for encodings that read offsets; element 0
  // is 0, ascending, `count` elements.
  virtual std::vector<std::int64_t> of_offsets(std::int64_t layer, std::int64_t count) const = 0;

  // What randomized positions and distances lie below; 0 for contiguous ones, which have no limit.
  virtual std::int64_t max_position() const = 0;

  // Whether of_tokens(...) is 0 .. count-1 and of_offsets(...) too.
  bool contiguous() const { return max_position() == 0; }

  static constexpr std::int64_t kEmbeddingLayer = -1;
};

// 0 .. count-1.
class ContiguousPositions : public Positions {
 public:
  std::vector<std::int64_t> of_tokens(std::int64_t layer, std::int64_t count) const override;
  std::vector<std::int64_t> of_offsets(std::int64_t layer, std::int64_t count) const override;
  std::int64_t max_position() const override { return 0; }
};

// Randomized positions (Ruoss et al., arXiv 2305.16843): a sorted uniform random subset of
// 0 .. max_position-1 without replacement; for offsets, of 1 .. max_position-1. Each layer has its
// own draw; all depend on `seed`, `purpose`, `step` and `batch` only.
class RandomizedPositions : public Positions {
 public:
  RandomizedPositions(std::int64_t max_position, std::uint64_t seed, Purpose purpose, std::uint64_t step,
                      std::uint64_t batch = 0);

  // Throw Error when count exceeds max_position.
  std::vector<std::int64_t> of_tokens(std::int64_t layer, std::int64_t count) const override;
  std::vector<std::int64_t> of_offsets(std::int64_t layer, std::int64_t count) const override;
  std::int64_t max_position() const override { return max_position_; }

 private:
  std::vector<std::int64_t> draw(std::int64_t layer, std::int64_t first, std::int64_t count) const;

  std::int64_t max_position_;
  std::uint64_t seed_;
  Purpose purpose_;
  std::uint64_t step_;
  std::uint64_t batch_;
};

}  // namespace che
