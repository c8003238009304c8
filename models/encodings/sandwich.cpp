#include "models/encodings/sandwich.h"

#include <ATen/ATen.h>
#include <fmt/core.h>

#include <cmath>

#include "models/encodings/encoding.h"

namespace che {
namespace {

struct Sandwich : Encoding {
  SandwichOptions options;

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const std::int64_t heads = context.shape.heads;
    const PairValues r = signed_distance(context, options.randomized_distance);
    const std::int64_t limit =
        context.positions.contiguous() ? context.tokens : context.positions.max_position();
    const auto values = [&] {
      const at::Tensor distance = r.values.abs().to(at::kLong).flatten();
      return context.table(fmt::format("sandwich {}", limit), [&] { return of_distances(limit, heads); })
          .index_select(1, distance)
          .unsqueeze(0);
    };
    return PairValues{context.computed_table("sandwich", values), r.by_offset};
  }

 private:
  // At every whole distance below `limit`, (heads, limit), double.
  at::Tensor of_distances(std::int64_t limit, std::int64_t heads) const {
    const at::Tensor every = at::arange(limit, at::kDouble);
    at::Tensor values = at::zeros_like(every);
    for (std::int64_t k = 1; k <= options.frequencies; ++k) {
      const double fraction = static_cast<double>(k) / static_cast<double>(options.frequencies);
      values += (every * std::pow(10000.0, -fraction)).cos() - 1;
    }
    const at::Tensor divisor = at::arange(1, heads + 1, every.options()) * (8.0 / static_cast<double>(heads));
    return values / divisor.unsqueeze(1);
  }
};

const Registered<EncodingMaker> sandwich_maker{{"sandwich", make_encoding<Sandwich>}};

}  // namespace
}  // namespace che
