#include "models/encodings/rotary.h"

#include <ATen/ATen.h>

#include "models/ops/rotation/rotation.h"

namespace che {

at::Tensor RotaryEncoding::rotate(const at::Tensor& heads, Operand operand,
                                  const EncodingContext& context) const {
  const std::int64_t first_token = context.first_token(operand);
  const auto of_rows = [this, context, first_token, rows = heads.size(2)](const Positions& positions) {
    const Positions::List all = positions.of_tokens(context.layer, context.tokens);
    const auto first = all.begin() + first_token;
    return sines_and_cosines(turns({first, first + rows}, context));
  };
  const at::Tensor table = context.table(first_token == 0 ? "rotary" : "rotary.queries", of_rows);
  return che::rotate(heads, table[0], table[1], context.backend);
}

std::optional<EncodingTable> RotaryEncoding::table(const EncodingContext& context) const {
  const Positions::List positions = context.positions.of_tokens(context.layer, context.tokens);
  const at::Tensor of_tokens = sines_and_cosines(turns(positions, context));
  return make_table({"position", "pair", "cos", "sin"}, {positions, {}},
                    at::stack({of_tokens[1], of_tokens[0]}, 2));
}

at::Tensor rotary_frequencies(std::int64_t width, double max_time) {
  return at::pow(max_time, at::arange(0, width, 2, at::kDouble) / -static_cast<double>(width));
}

at::Tensor rotary_angles(const Positions::List& positions, const at::Tensor& frequencies) {
  return at::tensor(positions, at::kDouble).unsqueeze(1) * frequencies;
}

at::Tensor sines_and_cosines(const PairTurns& turns) {
  return at::stack({turns.angles.sin(), turns.angles.cos()}) * turns.factor;
}

}  // namespace che
