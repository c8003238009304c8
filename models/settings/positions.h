#pragma once

#include <cstdint>
#include <vector>

#include "core/random.h"

namespace che {

// The positions of tokens. They are 0, 1, 2, ...; or a random subset of 0 .. max_position-1; or real
// multiples s 0, s 1, s 2, ... with a random s of mean 1; or sorted random reals below max_position.
enum class PositionSource : std::uint8_t { kContiguous, kRandomized, kEqualMean, kRandomizedReal };

// Whether positions of the source may be fractions.
constexpr bool is_real(PositionSource source) {
  return source == PositionSource::kEqualMean || source == PositionSource::kRandomizedReal;
}

// The positions of a sequence's tokens in one forward pass, as encodings see them: contiguous, drawn at
// random, or given. A value, which gives the same answer whenever it is asked the same question.
class Positions {
 public:
  using List = std::vector<double>;
  using Lists = std::vector<List>;

  static constexpr std::int64_t kEmbeddingLayer = -1;

  // 0 .. count-1.
  Positions() = default;

  // Each layer has its own draw; all depend on `seed`, `purpose`, `step` and `batch` only. kRandomized (Ruoss
  // et al., arXiv 2305.16843): a sorted uniform random subset of 0 .. max_position-1 without replacement; for
  // offsets, of 1 .. max_position-1. kRandomizedReal: sorted uniform reals of 0 .. max_position. kEqualMean,
  // which reads no max_position: 0, s, 2 s, ... for tokens and offsets alike, s exponential with mean 1.
  static Positions drawn(PositionSource source, std::int64_t max_position, std::uint64_t seed,
                         Purpose purpose, std::uint64_t step, std::uint64_t batch = 0);

  // Lists in place of draws below `max_position`: one for all layers, or one a layer.
  static Positions given(Lists tokens, Lists offsets, std::int64_t max_position);

  // Position of each of `count` tokens, ascending. `layer` is the layer that asks, or kEmbeddingLayer for
  // encodings that add to the embedding. Throws Error where count exceeds the whole numbers below
  // max_position that are drawn from.
  List of_tokens(std::int64_t layer, std::int64_t count) const;

  // Element k is the distance between tokens k apart, for encodings that read offsets; element 0 is 0,
  // ascending, `count` elements. Throws Error likewise.
  List of_offsets(std::int64_t layer, std::int64_t count) const;

  // Drawn positions and distances lie below it; 0 for those that have no limit.
  std::int64_t max_position() const { return draws_distances() ? max_position_ : 0; }

  // Whether of_tokens(...) is 0 .. count-1 and of_offsets(...) too.
  bool contiguous() const { return source_ == PositionSource::kContiguous; }

  // Whether of_offsets(...) are drawn, and are not the differences of the positions of tokens.
  bool draws_distances() const {
    return source_ == PositionSource::kRandomized || source_ == PositionSource::kRandomizedReal;
  }

 private:
  List draw(std::int64_t layer, std::int64_t first, std::int64_t count) const;

  PositionSource source_ = PositionSource::kContiguous;
  std::int64_t max_position_ = 0;
  Lists tokens_, offsets_;
  std::uint64_t seed_ = 0;
  Purpose purpose_ = Purpose::kPositions;
  std::uint64_t step_ = 0;
  std::uint64_t batch_ = 0;
};

}  // namespace che
