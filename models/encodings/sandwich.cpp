// Sandwich (arXiv 2212.10356): what is left of q k when sinusoids are added to queries and keys and
// only their own product is kept, bias (sum over k = 1 .. D/2 of cos(r 10000^(-2k/D)) - D/2) / (8h/H),
// r = j - i, for heads h = 1 .. H, with nothing to learn.
//
// As in NeMo's program, whose bidirectional form is this very one: the cosine is symmetric in r, and
// an encoder needs no other rule. D is a setting, 128 by
// default; in NeMo it is the width of a head.
#include <ATen/ATen.h>
#include <fmt/core.h>

#include <cmath>

#include "models/encodings/distance.h"
#include "models/encodings/encoding.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

struct SandwichOptions {
  std::int64_t frequencies = 64;  // D/2
  std::string randomized_distance = "per_offset";

  void visit_fields(FieldVisitor& visit) {
    visit.integer({"frequencies", "cosines in the sum, D/2"}, frequencies, 1, 65536);
    visit_randomized_distance(visit, randomized_distance);
  }
};

class Sandwich : public Encoding {
 public:
  explicit Sandwich(SandwichOptions options) : options_(std::move(options)) {}

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const std::int64_t heads = context.shape.heads;
    const PairValues r = signed_distance(context, options_.randomized_distance);
    const at::Tensor distance = r.values.abs().to(at::kLong).flatten();
    const std::int64_t limit =
        context.positions.contiguous() ? context.tokens : context.positions.max_position();
    const at::Tensor values =
        context.table(fmt::format("sandwich {}", limit), [&] { return of_distances(limit, heads); });
    return PairValues{values.index_select(1, distance).unsqueeze(0), r.by_offset};
  }

 private:
  // At every whole distance below `limit`, (heads, limit), double.
  at::Tensor of_distances(std::int64_t limit, std::int64_t heads) const {
    const at::Tensor every = at::arange(limit, at::kDouble);
    at::Tensor values = at::zeros_like(every);
    for (std::int64_t k = 1; k <= options_.frequencies; ++k) {
      const double fraction = static_cast<double>(k) / static_cast<double>(options_.frequencies);
      values += (every * std::pow(10000.0, -fraction)).cos() - 1;
    }
    const at::Tensor divisor = at::arange(1, heads + 1, every.options()) * (8.0 / static_cast<double>(heads));
    return values / divisor.unsqueeze(1);
  }

  SandwichOptions options_;
};

const Registered<EncodingEntry> registered{{
    .name = "sandwich",
    .summary = "fixed bias, the product of two sinusoids",
    .formula = "(sum_k cos(r 10000^(-2k/D)) - D/2) / (8h/H), k = 1 .. D/2",
    .source = "Chi et al., arXiv 2212.10356",
    .gives_bias = true,
    .place = 10,
    .colour = "#031D67",
    .marker = Marker::kDownTriangle,
    .visit = visit_options<SandwichOptions>,
    .make = make_encoding<Sandwich, SandwichOptions>,
}};

}  // namespace
}  // namespace che
