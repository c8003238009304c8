#include "workloads/metric.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace che {

double Metric::value(double accuracy, double loss) const {
  return source == Source::kAccuracy ? accuracy : std::exp(loss);
}

std::string Metric::format(double value) const {
  return source == Source::kAccuracy ? fmt::format("{:.1f}", 100 * value) : fmt::format("{:.2f}", value);
}

std::string Metric::format_difference(double difference) const {
  const std::string text = source == Source::kAccuracy ? fmt::format("{:+.1f}", 100 * difference)
                                                       : fmt::format("{:+.2f}", difference);
  return text.find_first_of("123456789") == std::string::npos ? '+' + text.substr(1) : text;
}

double Metric::rank(double value) const { return gain(std::strtod(format(value).c_str(), nullptr)); }

}  // namespace che
