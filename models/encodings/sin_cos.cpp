// Sinusoidal encoding (arXiv 1706.03762) in the arrangement of the released "Randomized positional
// encodings" program: x_t += [sin(p_t w_k), cos(p_t w_k)], w_k = 10000^(-2k/d), all sines first.
#include <ATen/ATen.h>
#include <fmt/core.h>

#include "core/error.h"
#include "models/encodings/encoding.h"
#include "models/encodings/sinusoid.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

class SinCos : public Encoding {
 public:
  at::Tensor embedding(const EncodingContext& context) const override {
    const auto build = [width = context.shape.width](const std::vector<std::int64_t>& positions) {
      return sinusoid(positions, width);
    };
    return context.table("sin_cos", context.of_tokens(), build);
  }
};

std::optional<ConfigProblem> problem(const EncodingUse& use) {
  if (use.shape.width % 2 == 0) return std::nullopt;
  return ConfigProblem{
      {"model.width"},
      fmt::format("sin_cos pairs sines with cosines and needs an even width; got {}", use.shape.width)};
}

const Registered<EncodingEntry> registered{{
    .name = "sin_cos",
    .summary = "sinusoids of the absolute position, added to the embedding",
    .formula = "x_t += [sin(p_t w_k), cos(p_t w_k)], w_k = 10000^(-2k/d)",
    .source = "Vaswani et al., arXiv 1706.03762",
    .place = 2,
    .colour = "#5CD3F5",
    .marker = Marker::kCircle,
    .problem = problem,
    .make = make_encoding<SinCos, NoOptions>,
}};

}  // namespace
}  // namespace che
