#include "models/encodings/alibi.h"

#include <ATen/ATen.h>

#include <bit>
#include <cmath>

#include "models/encodings/encoding.h"

namespace che {

std::vector<double> alibi_slopes(std::int64_t heads) {
  const auto geometric = [](std::int64_t count) {
    std::vector<double> slopes;
    for (std::int64_t h = 1; h <= count; ++h) {
      slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(count)));
    }
    return slopes;
  };
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  std::vector<double> slopes = geometric(power);
  const std::vector<double> finer = geometric(2 * power);
  for (std::size_t i = 0; slopes.size() < static_cast<std::size_t>(heads); i += 2) slopes.push_back(finer[i]);
  return slopes;
}

namespace {

struct Alibi : Encoding {
  AlibiOptions options;

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const std::int64_t heads = context.shape.heads;
    const PairValues distances = distance(context, options.distance);
    const auto values = [&] {
      const at::Tensor slopes = context.table("alibi.slopes", [&] {
        return at::tensor(alibi_slopes(heads), at::kDouble).view({1, heads, 1});
      });
      return -slopes * distances.values;
    };
    return PairValues{context.computed_table("alibi", values), distances.by_offset};
  }
};

const Registered<EncodingMaker> alibi_maker{{"alibi", make_encoding<Alibi>}};

}  // namespace
}  // namespace che
