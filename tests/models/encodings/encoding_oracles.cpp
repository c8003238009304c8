#include "tests/models/encodings/encoding_oracles.h"

#include <algorithm>
#include <cmath>

namespace che {
namespace {

using Index = std::int64_t;

// The factor of the logits of a head and a query.
double logit_scale(const OracleInput& in, Index h, Index i) {
  if (in.scale == AttentionScale::kSqrtD) return 1;
  const double log_n = std::log(static_cast<double>(in.causal ? i + 1 : in.tokens));
  if (in.scale == AttentionScale::kSsmax) return in.parameter("scale", {h}) * log_n;
  return log_n / std::log(static_cast<double>(in.trained_tokens));
}

double dot(const OracleInput& in, Index h, Index i, Index j) {
  double sum = 0;
  for (Index f = 0; f < in.head_width; ++f) sum += in.q(h, i, f) * in.k(h, j, f);
  return sum;
}

double at_index(const std::vector<double>& values, Index i) { return values.at(static_cast<std::size_t>(i)); }

// r = key - query.
double relative_position(const OracleInput& in, Index i, Index j) {
  const auto found = in.options.find("randomized_distance");
  if (found != in.options.end() && found->second == "per_position") {
    return at_index(in.positions, j) - at_index(in.positions, i);
  }
  return j < i ? -at_index(in.offsets, i - j) : at_index(in.offsets, j - i);
}

double distance_of(const OracleInput& in, Index i, Index j) {
  const double r = relative_position(in, i, j);
  if (in.causal) return std::max(-r, 0.0);
  const std::string& direction = in.options.at("direction");
  if (direction == "symmetric") return std::abs(r);
  if (direction == "left_only") return j < i ? std::abs(r) : 0;
  return j < i ? std::max(std::abs(r) - 0.5, 0.0) : std::abs(r);
}

// Feature f of the sinusoid of x in `width` features: sines, then cosines.
double sinusoid_of(double x, Index f, Index width) {
  const Index half = width / 2;
  const double angle =
      x / std::pow(10000.0, 2.0 * static_cast<double>(f % half) / static_cast<double>(width));
  return f < half ? std::sin(angle) : std::cos(angle);
}

double sin_cos(const OracleInput& in, Index t, Index f) {
  return sinusoid_of(at_index(in.input_positions, t), f, in.heads * in.head_width);
}

double learned(const OracleInput& in, Index t, Index f) {
  return in.parameter("table", {static_cast<Index>(at_index(in.input_positions, t)), f});
}

// Radians per position at which RoPE turns a pair of features.
double rope_frequency(const OracleInput& in, Index pair) {
  const auto pairs = static_cast<double>(in.head_width) / 2;
  const auto k = static_cast<double>(pair);
  if (k >= std::floor(std::stod(in.options.at("fraction")) * pairs)) return 0;
  if (in.options.at("frequencies") == "evq") {
    // The inverse of the hyperbolic sine, written out.
    const double tau = 2 * pairs / std::sqrt(static_cast<double>(in.trained_tokens));
    const double x = (1 - (k + 0.5) / pairs) * (std::exp(tau) - std::exp(-tau)) / 2;
    return std::pow(10000.0, std::log(x + std::sqrt(x * x + 1)) / tau - 1);
  }
  const double stretch =
      std::max(1.0, static_cast<double>(in.tokens) / static_cast<double>(in.trained_tokens));
  const std::string& scaling = in.options.at("scaling");
  const double plain = std::pow(10000.0, -k / pairs);
  if (scaling == "linear") return plain / stretch;
  // bloc97: the lowest frequency becomes that of linear scaling.
  if (scaling == "ntk") return plain * std::pow(stretch, pairs == 1 ? 0 : -k / (pairs - 1));
  if (scaling == "none") return plain;
  // The wavelength of pair k fits this many times into the training length.
  const auto pair_of_turns = [&](double turns) {
    const double wavelength = static_cast<double>(in.trained_tokens) / turns;
    return pairs * std::log10(wavelength / (2 * 3.14159265358979323846)) / 4;
  };
  const double last = 2 * pairs - 1;
  const double low =
      std::min(std::max(std::floor(pair_of_turns(std::stod(in.options.at("beta_fast")))), 0.0), last);
  const double high =
      std::min(std::max(std::ceil(pair_of_turns(std::stod(in.options.at("beta_slow")))), 0.0), last);
  const double ramp = k <= low ? 0 : k >= high ? 1 : (k - low) / (high - low);
  return plain * (1 - ramp + ramp / stretch);
}

// Turning q by a and k by b leaves, of each pair, the product turned by a - b.
double turned_product(const OracleInput& in, Index h, Index i, Index j, Index pair, double angle) {
  const double q0 = in.q(h, i, 2 * pair);
  const double q1 = in.q(h, i, 2 * pair + 1);
  const double k0 = in.k(h, j, 2 * pair);
  const double k1 = in.k(h, j, 2 * pair + 1);
  return std::cos(angle) * (q0 * k0 + q1 * k1) + std::sin(angle) * (q0 * k1 - q1 * k0);
}

double rope(const OracleInput& in, Index h, Index i, Index j) {
  double sum = 0;
  for (Index pair = 0; pair < in.head_width / 2; ++pair) {
    const double frequency = rope_frequency(in, pair);
    const double angle = frequency * (at_index(in.positions, i) - at_index(in.positions, j));
    sum += turned_product(in, h, i, j, pair, angle);
  }
  if (in.options.at("scaling") != "yarn" || in.tokens <= in.trained_tokens) return sum;
  const double factor =
      1 + 0.1 * std::log(static_cast<double>(in.tokens) / static_cast<double>(in.trained_tokens));
  return sum * factor * factor;
}

double relative(const OracleInput& in, Index h, Index i, Index j) {
  const Index width = in.heads * in.head_width;
  double position = relative_position(in, i, j);
  if (in.causal) {
    position = -position;  // Transformer-XL's i - j.
  } else if (in.max_position != 0 && in.options.at("randomized_relative") == "as_released") {
    const auto limit = static_cast<double>(in.max_position);
    position = std::min(position + limit, limit - 1);
  }
  double sum = 0;
  for (Index f = 0; f < in.head_width; ++f) {
    double projected = 0;
    for (Index e = 0; e < width; ++e) {
      projected += sinusoid_of(position, e, width) * in.parameter("wr", {e, h * in.head_width + f});
    }
    sum += (in.q(h, i, f) + in.parameter("u", {h, f})) * in.k(h, j, f);
    sum += (in.q(h, i, f) + in.parameter("v", {h, f})) * projected;
  }
  return sum;
}

// The released program's bucket, in single precision as there.
Index t5_bucket(Index r, bool causal) {
  if (causal) {
    if (r >= -16) return std::max<Index>(-r, 0);
    const float logarithm =
        std::log(static_cast<float>(-r) / 16) / static_cast<float>(std::log(128.0 / 16)) * 16;
    return std::min<Index>(31, 16 + static_cast<Index>(logarithm));
  }
  const Index side = r > 0 ? 16 : 0;
  const Index n = std::abs(r);
  if (n < 8) return side + n;
  const float logarithm = std::log(static_cast<float>(n) / 8) / static_cast<float>(std::log(128.0 / 8)) * 8;
  return side + std::min<Index>(15, 8 + static_cast<Index>(logarithm));
}

double t5(const OracleInput& in, Index h, Index i, Index j) {
  const auto scale = in.options.find("scale");
  const bool by_head = scale != in.options.end() && scale->second == "sqrt_head";
  return (by_head ? std::sqrt(static_cast<double>(in.head_width)) : 1) *
         in.parameter("table", {h, t5_bucket(static_cast<Index>(relative_position(in, i, j)), in.causal)});
}

// The slopes of a power of two, or those of the powers of two around.
double alibi_slope(Index h, Index heads) {
  Index power = 1;
  while (2 * power <= heads) power *= 2;
  if (h < power) return std::pow(2.0, -8.0 * static_cast<double>(h + 1) / static_cast<double>(power));
  return std::pow(2.0, -8.0 * static_cast<double>(2 * (h - power) + 1) / static_cast<double>(2 * power));
}

double alibi(const OracleInput& in, Index h, Index i, Index j) {
  return -alibi_slope(h, in.heads) * distance_of(in, i, j);
}

double sandwich(const OracleInput& in, Index h, Index i, Index j) {
  const double features = 2 * std::stod(in.options.at("frequencies"));
  double product = 0;
  for (Index k = 1; k <= static_cast<Index>(features) / 2; ++k) {
    const double angle = std::pow(10000.0, 2 * static_cast<double>(k) / features);
    product += std::cos(relative_position(in, i, j) / angle);
  }
  return (product - features / 2) * static_cast<double>(in.heads) / (8 * static_cast<double>(h + 1));
}

double kerple(const OracleInput& in, Index h, Index i, Index j) {
  if (in.options.at("kind") == "power") {
    return -in.parameter("a", {h}) * std::pow(distance_of(in, i, j), in.parameter("p", {h}));
  }
  return -in.parameter("p", {h}) * std::log(1 + in.parameter("a", {h}) * distance_of(in, i, j));
}

double fire(const OracleInput& in, Index h, Index i, Index j) {
  const auto psi = [&](double x) { return std::log(std::abs(in.parameter("c", {}) * x) + 1); };
  double normalizer = 0;
  if (in.max_position != 0 && in.options.at("randomized_distance") == "per_offset") {
    normalizer = *std::max_element(in.offsets.begin(), in.offsets.end());
  } else {
    normalizer = at_index(in.positions, i);
    if (!in.causal && in.options.at("normalizer") == "max_index")
      normalizer = std::max(normalizer, at_index(in.positions, j));
  }
  normalizer =
      std::max(normalizer, std::abs(in.parameter("L_multiplier", {}) * std::stod(in.options.at("length"))));
  const double z = psi(distance_of(in, i, j)) / (psi(normalizer) + 1e-6);
  double sum = in.parameter("fire.b2", {h});
  for (Index n = 0; n < (in.dape ? in.dape->hidden : std::stoll(in.options.at("hidden"))); ++n) {
    const double x = in.parameter("fire.w1", {0, n}) * z + in.parameter("fire.b1", {n});
    sum += in.parameter("fire.w2", {n, h}) * (x > 0 ? x : in.dape ? 0.01 * x : 0);
  }
  return sum;
}

// Gate by gate from the earlier token, which is left out, to the later one. The layer's input is q.
double fox(const OracleInput& in, Index h, Index i, Index j) {
  const Index gate = j > i ? in.heads + h : h;
  double sum = 0;
  for (Index l = std::min(i, j) + 1; l <= std::max(i, j); ++l) {
    double x = in.parameter("fox.b", {gate});
    for (Index f = 0; f < in.heads * in.head_width; ++f) {
      x += in.q(f / in.head_width, l, f % in.head_width) * in.parameter("fox.w", {f, gate});
    }
    sum -= std::log(1 + std::exp(-x));
  }
  return sum;
}

// The angles of a token are sums over the tokens up to it of a convolution, tap by tap. The layer's input is
// q.
double selective_rope(const OracleInput& in, Index h, Index i, Index j) {
  const Index width = in.heads * in.head_width;
  const Index rank = std::stoll(in.options.at("rank"));
  // Feature f of token t, after W1.
  const auto low = [&](Index t, Index f) {
    double sum = 0;
    for (Index e = 0; e < width; ++e) {
      const Index head = e / in.head_width;
      double square = 1e-6;
      for (Index g = 0; g < in.head_width; ++g) square += in.q(head, t, g) * in.q(head, t, g);
      sum += in.q(head, t, e % in.head_width) / std::sqrt(square) * in.parameter("phi.w1", {e, f});
    }
    return sum;
  };
  // phi_t of a head's pair.
  const auto phi = [&](Index t, Index pair) {
    const Index angle = h * in.head_width / 2 + pair;
    double sum = 0;
    for (Index near = std::max<Index>(t - 3, 0); near <= std::min(in.causal ? t : t + 3, in.tokens - 1);
         ++near) {
      double mapped = 0;
      for (Index f = 0; f < rank; ++f) mapped += low(near, f) * in.parameter("phi.w2", {f, angle});
      sum += mapped * in.parameter("phi.taps", {near - t + 3, angle});
    }
    return sum;
  };
  double sum = 0;
  for (Index pair = 0; pair < in.head_width / 2; ++pair) {
    double between = 0;  // The query's angle minus the key's.
    for (Index t = std::min(i, j) + 1; t <= std::max(i, j); ++t) between += (i > j ? 1 : -1) * phi(t, pair);
    const double angle =
        between / std::pow(500000.0, 2 * static_cast<double>(pair) / static_cast<double>(in.head_width));
    sum += turned_product(in, h, i, j, pair, angle);
  }
  return sum;
}

double pope(const OracleInput& in, Index h, Index i, Index j) {
  const auto softplus = [](double x) { return std::log(1 + std::exp(x)); };
  double sum = 0;
  for (Index c = 0; c < in.head_width; ++c) {
    const double exponent = static_cast<double>(c) / static_cast<double>(in.head_width);
    const double delta = std::min(0.0, std::max(in.parameter("delta", {h, c}), -2 * 3.14159265358979323846));
    const double angle =
        (at_index(in.positions, j) - at_index(in.positions, i)) / std::pow(10000.0, exponent);
    sum += softplus(in.q(h, i, c)) * softplus(in.k(h, j, c)) * std::cos(angle + delta);
  }
  return sum;
}

double silu(double x) { return x / (1 + std::exp(-x)); }

double position_mlp(const OracleInput& in, Index h, Index i, Index j) {
  const double r = relative_position(in, i, j);
  const double x = r < 0 ? std::log(1 - r) : -std::log(1 + r);
  const Index hidden = std::stoll(in.options.at("hidden"));
  double bias = in.parameter("mlp.b3", {h});
  for (Index n = 0; n < hidden; ++n) {
    double sum = in.parameter("mlp.b2", {n});
    for (Index m = 0; m < hidden; ++m) {
      const double first = silu(x * in.parameter("mlp.w1", {0, m}) + in.parameter("mlp.b1", {m}));
      sum += first * in.parameter("mlp.w2", {m, n});
    }
    bias += silu(sum) * in.parameter("mlp.w3", {n, h});
  }
  return bias;
}

double cope(const OracleInput& in, Index h, Index i, Index j) {
  double position = 0;
  for (Index k = std::min(i, j); k <= std::max(i, j); ++k) {
    position += 1 / (1 + std::exp(-dot(in, h, i, k) * logit_scale(in, h, i) /
                                  std::sqrt(static_cast<double>(in.head_width))));
  }
  position = std::min(position, 63.0);
  const double floor = std::floor(position);
  const auto logit_at = [&](double place) {
    double sum = 0;
    for (Index f = 0; f < in.head_width; ++f) {
      sum += in.q(h, i, f) * in.parameter(j > i ? "e_right" : "e_left", {f, static_cast<Index>(place)});
    }
    return sum;
  };
  return logit_at(floor) * (1 - (position - floor)) + logit_at(std::ceil(position)) * (position - floor);
}

}  // namespace

const std::map<std::string, EncodingOracle>& encoding_oracles() {
  static const std::map<std::string, EncodingOracle> oracles{
      {"none", {}},
      {"learned", {.bias = {}, .product = {}, .embedding = learned}},
      {"sin_cos", {.bias = {}, .product = {}, .embedding = sin_cos}},
      {"rope", {.bias = {}, .product = rope, .embedding = {}}},
      {"relative", {.bias = {}, .product = relative, .embedding = {}}},
      {"t5", {.bias = t5, .product = {}, .embedding = {}}},
      {"alibi", {.bias = alibi, .product = {}, .embedding = {}}},
      {"kerple", {.bias = kerple, .product = {}, .embedding = {}}},
      {"fox", {.bias = fox, .product = {}, .embedding = {}}},
      {"position_mlp", {.bias = position_mlp, .product = {}, .embedding = {}}},
      {"selective_rope", {.bias = {}, .product = selective_rope, .embedding = {}}},
      {"pope", {.bias = {}, .product = pope, .embedding = {}}},
      {"sandwich", {.bias = sandwich, .product = {}, .embedding = {}}},
      {"fire", {.bias = fire, .product = {}, .embedding = {}}},
      {"cope", {.bias = cope, .product = {}, .embedding = {}}},
  };
  return oracles;
}

double oracle_logit(const EncodingOracle& oracle, const OracleInput& in, Index h, Index i, Index j) {
  const auto logit = [&](Index head, Index key) {
    const double product = oracle.product ? oracle.product(in, head, i, key) : dot(in, head, i, key);
    return product * logit_scale(in, head, i) / std::sqrt(static_cast<double>(in.head_width));
  };
  const auto bias = [&](Index head, Index key) { return oracle.bias ? oracle.bias(in, head, i, key) : 0; };
  if (!in.dape) return logit(h, j) + bias(h, j);

  const DapeVariant variant = in.dape->variant;
  using enum DapeVariant;
  const auto input = [&](Index m, Index key) -> double {
    if (in.causal && key > i) return 0;
    if (m >= in.heads || variant == kBiasOnly || variant == kBiasOnlyResidual) return bias(m % in.heads, key);
    const bool sum = variant == kAdd || variant == kAddResidual;
    return logit(m, key) + (sum ? bias(m, key) : 0);
  };
  const bool concatenated = variant == kConcat || variant == kConcatResidual;
  // One layer over the keys around `key`; values beyond the first and the last key are zero.
  const auto layer = [&](const std::string& name, Index inputs, const auto& value, Index out, Index key) {
    double sum = in.parameter("dape.b" + name, {out});
    for (Index m = 0; m < inputs; ++m) {
      if (in.dape->kernel == DapeKernel::kOneKey) {
        sum += in.parameter("dape.w" + name, {m, out}) * value(m, key);
        continue;
      }
      for (Index tap = 0; tap < 3; ++tap) {
        const Index neighbour = key + tap - 1;
        if (neighbour < 0 || neighbour >= in.tokens) continue;
        sum += in.parameter("dape.w" + name, {tap, m, out}) * value(m, neighbour);
      }
    }
    return sum;
  };
  const auto hidden = [&](Index n, Index key) {
    const double x = layer("1", concatenated ? 2 * in.heads : in.heads, input, n, key);
    return x > 0 ? x : 0.01 * x;
  };
  const double f = layer("2", in.dape->hidden, hidden, h, j);
  const bool residual = variant == kConcatResidual || variant == kAddResidual || variant == kBiasOnlyResidual;
  return logit(h, j) + (residual ? bias(h, j) : 0) + f;
}

}  // namespace che
