#include "models/encodings/pope.h"

#include <ATen/ATen.h>

#include <numbers>

#include "models/encodings/rotary.h"
#include "models/ops/by_replica.h"

namespace che {
namespace {

constexpr double kFullTurn = 2 * std::numbers::pi;

struct Pope : RotaryEncoding {
  PopeOptions options;

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const Init start = options.start == PopeStart::kZero ? Init::constant(0) : Init::uniform(-kFullTurn, 0);
    return {{"delta", {shape.heads, shape.head_width()}, start}};
  }

  PairTurns turns(const Positions::List& positions, const EncodingContext& context) const override {
    return {rotary_angles(positions, rotary_frequencies(2 * context.shape.head_width(), 10000))};
  }

  // A feature becomes a pair, of its length and the angle delta (keys) or 0 (queries), which then turns.
  at::Tensor rotate(const at::Tensor& heads, Operand operand, const EncodingContext& context) const override {
    const auto lengths = [](const at::Tensor& x) { return at::softplus(x); };
    const at::Tensor length = by_replica(lengths, heads);
    if (operand == Operand::kQueries) {
      const at::Tensor pairs = at::stack({length, at::zeros_like(length)}, -1).flatten(-2);
      return RotaryEncoding::rotate(pairs, operand, context);
    }
    const auto directed = [](const at::Tensor& x, const at::Tensor& angle) {
      return at::stack({x * angle.cos(), x * angle.sin()}, -1).flatten(-2);
    };
    const at::Tensor delta = context.parameters["delta"].clamp(-kFullTurn, 0).unsqueeze(1).unsqueeze(1);
    return RotaryEncoding::rotate(by_replica(directed, length, delta), operand, context);
  }
};

const Registered<EncodingMaker> pope_maker{{"pope", make_encoding<Pope>}};

}  // namespace
}  // namespace che
