// FIRE (arXiv 2310.04418): bias MLP(psi(distance) / (psi(max(i, |L_m L_0|)) + 1e-6)), psi(x) =
// log(|c x| + 1), learned c, L_m and an MLP 1 -> 32 -> heads with ReLU in every layer.
//
// Inside DAPE the released module has an MLP of DAPE's own width with LeakyReLU. The published form
// is causal; see DistanceOptions for keys to the right, and fire_normalizer.
#include <ATen/ATen.h>

#include <cmath>

#include "models/encodings/distance.h"
#include "models/encodings/encoding.h"
#include "models/encodings/encoding_hooks.h"

namespace che {
namespace {

constexpr std::int64_t kHidden = 32;
constexpr double kEpsilon = 1e-6;

struct FireOptions {
  DistanceOptions distance;
  // max_index: max(i, j, |L_m L_0|), which keeps the ratio at most 1 on both sides; query: the
  // published max(i, |L_m L_0|). Randomized positions take the place of i and j, or the largest
  // drawn distance does where distances are drawn.
  std::string fire_normalizer = "max_index";
  double fire_length = 512;  // L_0

  void visit_fields(FieldVisitor& visit) {
    distance.visit_fields(visit);
    visit.choice({"fire_normalizer", "distances are divided by max(i, j, L) or by max(i, L)"},
                 fire_normalizer, {"max_index", "query"});
    visit.real({"fire_length", "initial least normalizer, L_0, in tokens"}, fire_length, 1e-3, 1e9);
  }
};

class Fire : public Encoding {
 public:
  Fire(FireOptions options, const std::optional<DapeOptions>& dape)
      : options_(std::move(options)), hidden_(dape ? dape->hidden : kHidden), leaky_(dape.has_value()) {}

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    const double second = 1 / std::sqrt(static_cast<double>(hidden_));
    return {{"c", {}, Init::constant(0.1)},
            {"L_multiplier", {}, Init::constant(1)},
            {"fire.w1", {1, hidden_}, Init::uniform(-1, 1)},
            {"fire.b1", {hidden_}, Init::uniform(-1, 1)},
            {"fire.w2", {hidden_, shape.heads}, Init::uniform(-second, second)},
            {"fire.b2", {shape.heads}, Init::uniform(-second, second)}};
  }

  PairValues bias(const EncodingPlace& place, std::int64_t) const override {
    const auto scalar = [&](const char* name) { return place.parameters[name].view({-1, 1, 1}); };
    const at::Tensor c = scalar("c");
    const auto psi = [&](const at::Tensor& x) { return at::log1p((c * x).abs()); };
    const at::Tensor least = (scalar("L_multiplier") * options_.fire_length).abs();
    const auto normalizer = [&](const at::Tensor& largest) {
      return psi(at::maximum(largest, least)) + kEpsilon;
    };
    PairValues ratio = distance(place, options_.distance);
    ratio.values = psi(ratio.values);  // (replicas, 1, pairs)
    if (draws_distances(place)) {
      const std::int64_t largest = place.positions.of_offsets(place.layer, place.tokens).back();
      ratio.values = ratio.values / normalizer(at::full({1, 1, 1}, largest, place.options));
    } else {
      // Both (replicas, queries, keys).
      const at::Tensor numerator = ratio.dense(place.queries(), place.tokens).squeeze(1);
      ratio = {(numerator / normalizer(largest_index(place))).flatten(1).unsqueeze(1), false};
    }
    // Pairs last, so that the result needs no transpose.
    const auto layer = [&](const char* w, const char* b, const at::Tensor& x) {
      return at::baddbmm(place.parameters[b].unsqueeze(2), place.parameters[w].transpose(1, 2), x);
    };
    const at::Tensor hidden = layer("fire.w1", "fire.b1", ratio.values);
    const at::Tensor active = leaky_ ? at::leaky_relu(hidden, 0.01) : at::relu(hidden);
    return {layer("fire.w2", "fire.b2", active), ratio.by_offset};
  }

  double working_values_per_pair(const ModelShape& shape) const override {
    return static_cast<double>(2 * hidden_ + shape.heads + 4);
  }

 private:
  // Whether distances have no tokens' positions behind them.
  bool draws_distances(const EncodingPlace& place) const {
    return !place.positions.contiguous() && options_.distance.randomized_distance == "per_offset";
  }

  // What the distances of each pair are divided by, before |L_m L_0|: broadcastable to (queries,
  // keys).
  at::Tensor largest_index(const EncodingPlace& place) const {
    const at::Tensor keys =
        at::tensor(place.positions.of_tokens(place.layer, place.tokens), at::kLong).to(place.options);
    const at::Tensor queries = keys.slice(0, place.first_query).unsqueeze(1);
    return options_.fire_normalizer == "query" ? queries : at::maximum(queries, keys.unsqueeze(0));
  }

  FireOptions options_;
  std::int64_t hidden_;
  bool leaky_;
};

const Registered<EncodingEntry> registered{{
    .name = "fire",
    .summary = "learned function of the distance over the position",
    .formula = "MLP(psi(|r|) / (psi(max(i, j, |L_m L_0|)) + 1e-6)), psi(x) = log(|c x| + 1)",
    .source = "Li et al., arXiv 2310.04418",
    .gives_bias = true,
    .visit = visit_options<FireOptions>,
    .make = make_encoding<Fire, FireOptions>,
}};

}  // namespace
}  // namespace che
