#include "workloads/metric.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "core/error.h"
#include "core/text.h"

namespace che {

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = {"accuracy", "ppl", "bits", "loss"};
  return names;
}

Metric Metric::named(std::string_view name) {
  const auto found = std::ranges::find(metric_names(), name);
  if (found == metric_names().end()) {
    throw Error(fmt::format("got '{}'; allowed: {}", one_line(name), fmt::join(metric_names(), ", ")));
  }
  const auto named = static_cast<Source>(found - metric_names().begin());
  return {.source = named, .greater_is_better = named == Source::kAccuracy};
}

double Metric::value(double accuracy, double loss) const {
  switch (source) {
    case Source::kAccuracy:
      return accuracy;
    case Source::kPerplexity:
      return std::exp(loss);
    case Source::kBits:
      return loss / std::numbers::ln2;
    case Source::kLoss:
      return loss;
  }
  return 0;
}

namespace {

// The perplexity of a model that diverged may have a hundred digits.
std::string written(double value, const Metric& metric, const char* sign) {
  constexpr double kLongest = 1e7;
  if (metric.source == Metric::Source::kAccuracy) return fmt::format("{}{:.1f}", sign, 100 * value);
  if (std::abs(value) >= kLongest) return fmt::format("{}{:.2e}", sign, value);
  return fmt::format("{}{:.{}f}", sign, value, metric.source == Metric::Source::kPerplexity ? 2 : 3);
}

}  // namespace

std::string Metric::format(double value) const { return written(value, *this, ""); }

std::string Metric::format_difference(double difference) const {
  const std::string text = written(difference, *this, std::signbit(difference) ? "" : "+");
  const bool is_zero = std::isfinite(difference) && text.find_first_of("123456789") == std::string::npos;
  return is_zero ? '+' + text.substr(1) : text;
}

double Metric::rank(double value) const { return gain(std::strtod(format(value).c_str(), nullptr)); }

}  // namespace che
