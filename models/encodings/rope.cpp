// RoPE (arXiv 2104.09864): neighbouring feature pairs (2k, 2k+1) of queries and keys turn by the
// angle p_t 10000^(-k/(d_head/2)).
#include <ATen/ATen.h>
#include <fmt/core.h>

#include "core/error.h"
#include "models/encodings/encoding.h"
#include "models/encodings/rotary.h"
#include "models/encodings/sinusoid.h"
#include "models/kernels/rotation.h"
#include "models/settings/encoding_entry.h"

namespace che {

at::Tensor rotate_pairs(const at::Tensor& heads, const std::vector<std::int64_t>& positions, double max_time,
                        const Backend& backend) {
  const std::int64_t width = heads.size(4);
  const at::Tensor table = sinusoid(positions, width, max_time);
  return rotate(heads, table.slice(1, 0, width / 2), table.slice(1, width / 2), backend);
}

namespace {

class Rope : public Encoding {
 public:
  at::Tensor rotate(const at::Tensor& heads, std::int64_t first_token,
                    const EncodingContext& context) const override {
    const std::vector<std::int64_t> all = context.positions.of_tokens(context.layer, context.tokens);
    const auto first = all.begin() + first_token;
    return rotate_pairs(heads, {first, first + heads.size(2)}, 10000, context.backend);
  }

  std::optional<EncodingTable> table(const EncodingContext& context) const override {
    const std::vector<std::int64_t> positions = context.positions.of_tokens(context.layer, context.tokens);
    // (tokens, pairs, 2)
    const at::Tensor cosine_and_sine =
        sinusoid(positions, context.shape.head_width()).unflatten(1, {2, -1}).flip(1).transpose(1, 2);
    return make_table({"position", "pair", "cos", "sin"}, {positions, {}}, cosine_and_sine);
  }
};

std::optional<ConfigProblem> problem(const EncodingUse& use) {
  if (use.shape.head_width() % 2 == 0) return std::nullopt;
  return ConfigProblem{
      {"model.width", "model.heads"},
      fmt::format("rope rotates pairs of features and needs an even width per head; got {} / {} = {}; set "
                  "model.width to a multiple of {}, such as {}",
                  use.shape.width, use.shape.heads, use.shape.head_width(), 2 * use.shape.heads,
                  use.shape.width + use.shape.heads)};
}

const Registered<EncodingEntry> registered{{
    .name = "rope",
    .summary = "queries and keys rotated by their position",
    .formula = "pairs (2k, 2k+1) of q and k turn by p_t 10000^(-2k/d_head)",
    .source = "Su et al., arXiv 2104.09864",
    .place = 3,
    .colour = "#0D01FB",
    .marker = Marker::kDisc,
    .problem = problem,
    .make = make_encoding<Rope, NoOptions>,
}};

}  // namespace
}  // namespace che
