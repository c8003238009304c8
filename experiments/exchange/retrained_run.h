#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/exchange/bundled_run.h"

namespace che {

enum class Agreement : std::uint8_t {
  kEqual,            // Every number of the bundle at the config's lengths is the same.
  kWithinTolerance,  // Accuracies are close, of texts also losses.
  kDifferent,        // Some are not.
};

// "equal", "within tolerance", "different".
std::string agreement_name(Agreement agreement);

struct RetrainingResult {
  Agreement agreement = Agreement::kDifferent;
  std::string text;  // Says in one line what was compared and where the largest difference is.
};

// Compares what a bundle has of a run with what training it again gave, at the test lengths of its config.
// `tolerance`, from 0 to 1, is allowed between accuracies: at each test length, and in training over the last
// tenth of the steps. With a text it is allowed between losses, too, in nats a token: at each test
// length, in training, in the last validation, and on average over windows and over positions.
RetrainingResult compare_with_published(BundledRun published, const std::vector<EvaluationRow>& again,
                                        std::vector<MetricsRow> metrics_again, const StepRows& steps_again,
                                        double tolerance);

}  // namespace che
