#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace che {

// The number that a workload's results are judged by. Every evaluation stores the accuracy and the loss, and
// the metric is read off these two, so that results of any workload are stored in the same columns.
struct Metric {
  enum class Source { kAccuracy, kPerplexity, kBits, kLoss };  // Bits and loss are of a prediction.

  Source source = Source::kAccuracy;
  bool greater_is_better = true;

  // The metric of this name. Throws Error (usage) for another than metric_names().
  static Metric named(std::string_view name);

  // `accuracy` is 0 to 1, `loss` is in nats.
  double value(double accuracy, double loss) const;

  // Values and their differences as every table prints them: accuracies of 0.7512 and +0.012 as "75.1" and
  // "+1.2" percent, a perplexity of 12.414 as "12.41".
  std::string format(double value) const;
  std::string format_difference(double difference) const;

  // The unit of these texts: " %", or none.
  std::string_view unit() const { return source == Source::kAccuracy ? " %" : ""; }

  // The value with the sign that makes greater better.
  double gain(double value) const { return greater_is_better ? value : -value; }

  // The gain of the number that format() prints. Equal ranks tie.
  double rank(double value) const;
};

// "accuracy", "ppl", "bits", "loss".
const std::vector<std::string>& metric_names();

}  // namespace che
