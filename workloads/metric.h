#pragma once

#include <optional>
#include <string>

namespace che {

// The number that a workload's results are judged by. Every evaluation stores the accuracy and the loss, and
// the metric is read off these two, so that results of any workload are stored in the same columns.
struct Metric {
  enum class Source { kAccuracy, kPerplexity };

  std::string name = "accuracy";
  Source source = Source::kAccuracy;
  bool greater_is_better = true;
  std::optional<double> chance = {};  // The value that guessing reaches, if guessing means something.

  // `accuracy` is 0 to 1, `loss` is in nats.
  double value(double accuracy, double loss) const;

  // Values and their differences as every table prints them: accuracies of 0.7512 and +0.012 as "75.1" and
  // "+1.2" percent, a perplexity of 12.414 as "12.41".
  std::string format(double value) const;
  std::string format_difference(double difference) const;

  // The number that format() prints. Values that are equal here tie.
  double rounded(double value) const;

  // The value with the sign that makes greater better.
  double gain(double value) const { return greater_is_better ? value : -value; }
};

}  // namespace che
