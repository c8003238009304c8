#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace che {

// The distribution that a parameter starts from.
struct Init {
  enum class Kind {
    kConstant,         // `scale`
    kNormal,           // Mean 0, standard deviation `scale`.
    kTruncatedNormal,  // Normal(0, scale) cut at two of its standard deviations, variance not corrected.
    kUniform,          // Over [low, high).
  };
  Kind kind = Kind::kConstant;
  double scale = 0;
  double low = 0;
  double high = 0;

  static Init constant(double value) { return {Kind::kConstant, value}; }
  static Init normal(double sigma) { return {Kind::kNormal, sigma}; }
  static Init truncated_normal(double sigma) { return {Kind::kTruncatedNormal, sigma}; }
  // A standard deviation of gain / sqrt(inputs).
  static Init fan_in(std::int64_t inputs, double gain = 1) {
    return truncated_normal(gain / std::sqrt(static_cast<double>(inputs)));
  }
  static Init uniform(double low, double high) { return {Kind::kUniform, 0, low, high}; }
  // As PyTorch's layers with so many inputs start: uniform in -1 / sqrt(inputs) .. 1 / sqrt(inputs).
  static Init linear(std::int64_t inputs) {
    const double bound = 1 / std::sqrt(static_cast<double>(inputs));
    return uniform(-bound, bound);
  }
};

// A parameter that a model has, before there is a tensor for it.
struct ParameterSpec {
  std::string name;                 // As in checkpoints and the reference files: "layer0.attn.wq".
  std::vector<std::int64_t> shape;  // For one replica.
  Init init;
};

}  // namespace che
