#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "models/encodings/encoding.h"
#include "models/ops/device/backend.h"

namespace che {

// How far the feature pairs of queries and keys turn, and by what they are multiplied after that.
struct PairTurns {
  at::Tensor angles;  // (tokens, pairs), radians, double
  double factor = 1;
};

// An encoding that turns neighbouring feature pairs (2k, 2k+1) of queries and keys by angles that depend on
// the token and the pair alone. A variant says which; the rest is here.
class RotaryEncoding : public Encoding {
 public:
  // For tokens at `positions`, some of those of `context`.
  virtual PairTurns turns(const Positions::List& positions, const EncodingContext& context) const = 0;

  at::Tensor rotate(const at::Tensor& heads, Operand operand, const EncodingContext& context) const override;
  std::optional<EncodingTable> table(const EncodingContext& context) const override;
};

// The angular frequencies max_time^(-2k/width) of the pairs k = 0 .. width/2 - 1, radians per position,
// double.
at::Tensor rotary_frequencies(std::int64_t width, double max_time);

// The angle of every position (row) and frequency (column), double.
at::Tensor rotary_angles(const Positions::List& positions, const at::Tensor& frequencies);

// Sines and cosines times the factor, (2, tokens, pairs), double.
at::Tensor sines_and_cosines(const PairTurns& turns);

}  // namespace che
