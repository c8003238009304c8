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

std::string Metric::format(double value) const {
  if (source == Source::kAccuracy) return fmt::format("{:.1f}", 100 * value);
  return fmt::format("{:.{}f}", value, source == Source::kPerplexity ? 2 : 3);
}

std::string Metric::format_difference(double difference) const {
  const std::string text = source == Source::kAccuracy
                               ? fmt::format("{:+.1f}", 100 * difference)
                               : fmt::format("{:+.{}f}", difference, source == Source::kPerplexity ? 2 : 3);
  return text.find_first_of("123456789") == std::string::npos ? '+' + text.substr(1) : text;
}

double Metric::rank(double value) const { return gain(std::strtod(format(value).c_str(), nullptr)); }

}  // namespace che
