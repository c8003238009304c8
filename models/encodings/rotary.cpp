#include "models/encodings/rotary.h"

#include <ATen/ATen.h>

#include "models/kernels/rotation.h"

namespace che {

at::Tensor RotaryEncoding::rotate(const at::Tensor& heads, std::int64_t first_token,
                                  const EncodingContext& context) const {
  const std::vector<std::int64_t> all = context.positions.of_tokens(context.layer, context.tokens);
  const auto first = all.begin() + first_token;
  return rotate_pairs(heads, turns({first, first + heads.size(2)}, context), context.backend);
}

std::optional<EncodingTable> RotaryEncoding::table(const EncodingContext& context) const {
  const std::vector<std::int64_t> positions = context.positions.of_tokens(context.layer, context.tokens);
  const PairTurns of_tokens = turns(positions, context);
  // (tokens, pairs, 2)
  const at::Tensor cosine_and_sine =
      at::stack({of_tokens.angles.cos(), of_tokens.angles.sin()}, 2) * of_tokens.factor;
  return make_table({"position", "pair", "cos", "sin"}, {positions, {}}, cosine_and_sine);
}

at::Tensor rotary_frequencies(std::int64_t width, double max_time) {
  return at::pow(max_time, at::arange(0, width, 2, at::kDouble) / -static_cast<double>(width));
}

at::Tensor rotary_angles(const std::vector<std::int64_t>& positions, const at::Tensor& frequencies) {
  return at::tensor(positions, at::kDouble).unsqueeze(1) * frequencies;
}

at::Tensor rotate_pairs(const at::Tensor& heads, const PairTurns& turns, const Backend& backend) {
  return rotate(heads, turns.angles.sin() * turns.factor, turns.angles.cos() * turns.factor, backend);
}

}  // namespace che
