// FIRE (arXiv 2310.04418): bias MLP(psi(distance) / (psi(max(i, |L_m L_0|)) + 1e-6)), psi(x) =
// log(|c x| + 1), learned c, L_m and an MLP 1 -> hidden -> heads with ReLU in every layer.
//
// Inside DAPE the released module has an MLP of DAPE's own width with LeakyReLU. The published form
// is causal; see DistanceOptions for keys to the right, and FireOptions::normalizer.
#include <ATen/ATen.h>
#include <fmt/core.h>

#include <cmath>

#include "models/encodings/distance.h"
#include "models/encodings/encoding.h"
#include "models/kernels/reference/by_replica.h"
#include "models/kernels/reference/product.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

constexpr double kEpsilon = 1e-6;

struct FireOptions {
  DistanceOptions distance;
  // max_index: max(i, j, |L_m L_0|), which keeps the ratio at most 1 on both sides; query: the
  // published max(i, |L_m L_0|). Randomized positions take the place of i and j, or the largest
  // drawn distance does where distances are drawn.
  std::string normalizer = "max_index";
  double length = 512;       // L_0
  std::int64_t hidden = 32;  // Width of the MLP, except inside DAPE.

  void visit_fields(FieldVisitor& visit) {
    distance.visit_fields(visit);
    visit.choice({.name = "normalizer",
                  .help = "distances are divided by max(i, j, L) or by max(i, L)",
                  .hashed_name = "fire_normalizer"},
                 normalizer, {"max_index", "query"});
    visit.real({.name = "length",
                .help = "initial smallest normalizer, L_0, in tokens",
                .hashed_name = "fire_length"},
               length, 1e-3, 1e9);
    visit.integer({"hidden", "width of the network; inside DAPE it has the width of dape.hidden"}, hidden, 1,
                  65536);
  }
};

class Fire : public Encoding {
 public:
  Fire(FireOptions options, const std::optional<DapeOptions>& dape)
      : options_(std::move(options)),
        hidden_(dape ? dape->hidden : options_.hidden),
        leaky_(dape.has_value()) {}

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const double second = 1 / std::sqrt(static_cast<double>(hidden_));
    return {{"c", {}, Init::constant(0.1)},
            {"L_multiplier", {}, Init::constant(1)},
            {"fire.w1", {1, hidden_}, Init::uniform(-1, 1)},
            {"fire.b1", {hidden_}, Init::uniform(-1, 1)},
            {"fire.w2", {hidden_, shape.heads}, Init::uniform(-second, second)},
            {"fire.b2", {shape.heads}, Init::uniform(-second, second)}};
  }

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const auto scalar = [&](const char* name) { return context.parameters[name].view({-1, 1, 1}); };
    const at::Tensor c = scalar("c");
    const auto logarithm = [](const at::Tensor& slope, const at::Tensor& x) {
      return at::log1p((slope * x).abs());
    };
    const auto psi = [&](const at::Tensor& x) { return by_replica(logarithm, c, x); };
    const at::Tensor least = (scalar("L_multiplier") * options_.length).abs();
    const auto normalizer = [&](const at::Tensor& largest) {
      return psi(at::maximum(largest, least)) + kEpsilon;
    };
    PairValues ratio = distance(context, options_.distance);
    const at::Tensor distances = ratio.values;  // (1, 1, pairs)
    ratio.values = psi(distances);              // (replicas, 1, pairs)
    if (draws_distances(context)) {
      // Found on the device, where a replayed step has distances of its own.
      ratio.values = ratio.values / normalizer(distances.amax(-1, /*keepdim=*/true));
    } else {
      // Both (replicas, queries, keys).
      const at::Tensor numerator = ratio.dense(context.queries(), context.tokens).squeeze(1);
      ratio = {(numerator / normalizer(largest_index(context))).flatten(1).unsqueeze(1), false};
    }
    // Pairs last, so that the result needs no transpose.
    const auto layer = [&](const char* w, const char* b, const at::Tensor& x) {
      return product(context.parameters[w].transpose(1, 2), x) + context.parameters[b].unsqueeze(2);
    };
    const at::Tensor hidden = layer("fire.w1", "fire.b1", ratio.values);
    const at::Tensor active = leaky_ ? at::leaky_relu(hidden, 0.01) : at::relu(hidden);
    return PairValues{layer("fire.w2", "fire.b2", active), ratio.by_offset};
  }

 private:
  // Whether distances have no tokens' positions behind them.
  bool draws_distances(const EncodingContext& context) const {
    return !context.positions.contiguous() && options_.distance.randomized_distance == "per_offset";
  }

  // What the distances of each pair are divided by, before |L_m L_0|: broadcastable to (queries,
  // keys).
  at::Tensor largest_index(const EncodingContext& context) const {
    const at::Tensor keys = context.table("fire.positions", context.of_tokens(), whole_numbers);
    const at::Tensor queries = keys.slice(0, context.first_query).unsqueeze(1);
    return options_.normalizer == "query" ? queries : at::maximum(queries, keys.unsqueeze(0));
  }

  FireOptions options_;
  std::int64_t hidden_;
  bool leaky_;
};

std::optional<ConfigProblem> problem(const EncodingUse& use) {
  const auto options = options_from<FireOptions>(use.options);
  const bool draws_distances = use.max_position > 0 && options.distance.randomized_distance == "per_offset";
  if (draws_distances && options.normalizer != FireOptions().normalizer) {
    return ConfigProblem{
        {"encoding.normalizer", "encoding.randomized_distance"},
        fmt::format("normalizer: {} has no effect where distances are drawn, because the largest one "
                    "divides them all; set randomized_distance to per_position or leave it out",
                    options.normalizer)};
  }
  if (!use.dape || options.hidden == FireOptions().hidden) return std::nullopt;
  return ConfigProblem{
      {"encoding.hidden"},
      fmt::format("inside DAPE the network of fire has the width of encoding.dape.hidden ({}); "
                  "set that one instead",
                  use.dape->hidden)};
}

const Registered<EncodingEntry> registered{{
    .name = "fire",
    .summary = "learned function of the distance over the position",
    .formula = "MLP(psi(|r|) / (psi(max(i, j, |L_m L_0|)) + 1e-6)), psi(x) = log(|c x| + 1)",
    .source = "Li et al., arXiv 2310.04418",
    .gives_bias = true,
    .place = 7,
    .colour = "#A66AF4",
    .marker = Marker::kFullDownTriangle,
    .visit = visit_options<FireOptions>,
    .identity_defaults = first_direction(),
    .problem = problem,
    .make = make_encoding<Fire, FireOptions>,
}};

}  // namespace
}  // namespace che
