#pragma once

#include <optional>
#include <string>

namespace che {

// The number that a workload's results are judged by. Every evaluation stores the accuracy and the loss, and
// the metric is read off these two, so that results of any workload are stored in the same columns.
struct Metric {
  enum class Source { kAccuracy, kPerplexity };

  std::string name;  // The heading in tables.
  Source source = Source::kAccuracy;
  bool greater_is_better = true;
  std::optional<double> chance = {};  // The value that guessing reaches, if guessing means something.

  // `accuracy` is a share of 1, `loss` is in nats.
  double value(double accuracy, double loss) const;

  // A value as people read it: "97.3 %" for an accuracy, "12.4" for a perplexity.
  std::string format(double value) const;
};

}  // namespace che
