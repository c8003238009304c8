#include "models/encodings/relative.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numeric>

#include "models/encodings/encoding.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

struct Relative : Encoding {
  RelativeOptions options;

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const std::int64_t d = shape.width;
    const std::vector<std::int64_t> per_head{shape.heads, shape.head_width()};
    return {{"wr", {d, d}, Init::fan_in(d)},
            {"u", per_head, Init::normal(0.02)},
            {"v", per_head, Init::normal(0.02)}};
  }

  // The bias reads the queries.
  AttentionTerms attention_terms(const EncodingContext& context) const override {
    return CustomLogits{[this, context](const at::Tensor& scaled, const at::Tensor& q, const at::Tensor& k) {
      return logits(scaled, q, k, context.of_queries(k.size(3), q.size(3)), context.tokens);
    }};
  }

  // Without W_r, u and v, which meet queries and keys: the sinusoid R of what each offset encodes.
  std::optional<EncodingTable> table(const EncodingContext& context) const override {
    const Positions::List padded = encoded_distances(context.positions, context.layer, context.tokens,
                                                     context.tokens, context.queries(), context.shape.causal);
    const Positions::List encoded(padded.begin() + 1, padded.end());
    std::vector<double> offsets(encoded.size());
    std::iota(offsets.begin(), offsets.end(), static_cast<double>(1 - context.tokens));
    const at::Tensor rows = sinusoid(encoded, context.shape.width);
    const at::Tensor distances =
        at::tensor(encoded, at::kDouble).view({-1, 1, 1}).expand({-1, rows.size(1), 1});
    return make_table({"offset", "feature", "distance", "value"}, {offsets, {}},
                      at::cat({distances, rows.unsqueeze(2)}, 2));
  }

 private:
  // Distances are drawn for `all_tokens` tokens, of which `context` may have some.
  at::Tensor logits(const at::Tensor& logits, const at::Tensor& queries, const at::Tensor& keys,
                    const EncodingContext& context, std::int64_t all_tokens) const {
    const double scale = 1 / std::sqrt(static_cast<double>(queries.size(4)));
    const auto per_head = [&](const char* name) {  // (replicas, 1, heads, 1, head_width)
      return context.parameters[name].unsqueeze(1).unsqueeze(3);
    };
    const at::Tensor content = product(per_head("u"), keys.transpose(3, 4));
    const at::Tensor& wr = context.parameters["wr"];  // (replicas, width, heads * head_width)
    const at::Tensor sinusoids = context.table(
        "relative", [this, layer = context.layer, tokens = context.tokens, queries = context.queries(),
                     shape = context.shape, all_tokens](const Positions& positions) {
          return sinusoid(encoded_distances(positions, layer, all_tokens, tokens, queries, shape.causal),
                          shape.width);
        });
    // (1, offsets, width) by (replicas, width, heads * head_width).
    const at::Tensor rows =
        product(sinusoids.unsqueeze(0), wr).unflatten(2, {queries.size(2), queries.size(4)});
    // (replicas, batch, heads, queries, offsets)
    const at::Tensor relative = product(queries + per_head("v"), rows.permute({0, 2, 3, 1}).unsqueeze(1));
    const at::Tensor added = scale * (content + shift(relative, context.tokens));
    return logits + (context.logit_scale.defined() ? added * context.logit_scale.transpose(2, 3) : added);
  }

  // The distances that the sinusoids encode at each offset -T .. queries-1 of a key from its query; the first
  // one never occurs and pads. They are drawn for `all_tokens` tokens.
  Positions::List encoded_distances(const Positions& positions, std::int64_t layer, std::int64_t all_tokens,
                                    std::int64_t tokens, std::int64_t queries, bool is_causal) const {
    const Positions::List drawn = positions.of_offsets(layer, all_tokens);
    const auto limit = static_cast<double>(positions.max_position());  // 0 for contiguous ones.
    const bool as_released =
        options.randomized_relative == RandomizedRelative::kAsReleased && limit != 0 && !is_causal;
    Positions::List encoded{0};
    for (std::int64_t offset = 1 - tokens; offset < queries; ++offset) {
      const double distance = drawn[static_cast<std::size_t>(std::abs(offset))];
      if (as_released) {
        encoded.push_back(offset < 0 ? limit - distance : limit - 1);
      } else {
        encoded.push_back(offset < 0 && !is_causal ? -distance : distance);
      }
    }
    return encoded;
  }

  // From columns per offset to columns per key. Query i of n reads n - i + j for key j, so that in
  // the flattened (n, T + n) matrix rows are one column closer to each other.
  static at::Tensor shift(const at::Tensor& by_offset, std::int64_t tokens) {
    const std::int64_t queries = by_offset.size(3);
    const std::int64_t step = by_offset.size(4) - 1;
    return by_offset.flatten(3)
        .narrow(3, queries, queries * step)
        .unflatten(3, {queries, step})
        .narrow(4, 0, tokens);
  }
};

const Registered<EncodingMaker> relative_maker{{"relative", make_encoding<Relative>}};

}  // namespace
}  // namespace che
