#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"
#include "experiments/store/run_rows.h"

namespace che {

// Holds the accuracy of a run at its training lengths, over the last tenth of its steps. A run that is no
// better than predictors without an input has learned nothing that could carry over to other lengths. Its
// score says nothing about extrapolation.
struct TrainingOutcome {
  std::optional<double> accuracy = {};  // 0 .. 1, with dropout, before each update; of a step or more.
  bool trained = false;                 // It passes the best predictor without an input by kTrainedMargin.
  bool diverged = false;                // See divergence().
};

inline constexpr double kTrainedMargin = 0.02;

// The double dagger behind the score of a model that did not train.
inline constexpr const char* kUntrainedSign = "\u2021";

// Says that the training loss at the end is worse than that of a model which has learned nothing.
struct Divergence {
  double loss = 0;       // Nats per output symbol, mean over the last tenth of the steps.
  double untrained = 0;  // A model without training has at most this loss, on average over seeds.
};

// Returns a divergence if training ended worse than it began. A model without training has at most ln(number
// of output symbols) + 1/2 on average. The logarithm is the loss of a uniform guess. The model's last
// features have mean square 1 (LayerNorm) and its output weights have variance 1/width at most, so that
// logits have variance 1 at most. Then the mean of ln(sum of exp) exceeds that of equal logits by at most
// half of that variance. The first row of metrics does not measure it. That row is the mean of steps in which
// a model has learned already, or has diverged already where the learning rate is high. Returns nothing
// without metrics of the end.
std::optional<Divergence> divergence(const RunConfig& config, const std::vector<MetricsRow>& metrics);

// "diverged: training loss 2.31 at the end, at most 1.19 on average without training"
std::string divergence_text(const Divergence& divergence);

// Measures the best predictor without an input once for each task and training lengths.
class TrainingJudge {
 public:
  // Pairs of a task and training lengths that are measured, at most: each may take seconds, and strangers'
  // runs may have thousands.
  static constexpr std::size_t kMostMeasured = 128;

  // Returns nothing without metrics of the end, unless the model was to be evaluated without training, and
  // nothing where kMostMeasured other pairs were measured before.
  std::optional<TrainingOutcome> judge(const RunConfig& config, const std::vector<MetricsRow>& metrics);

  // Whether some run was not judged because of kMostMeasured.
  bool has_unjudged() const { return has_unjudged_; }

 private:
  std::optional<double> best_without_input(const RunConfig& config);

  std::map<std::string, double> measured_;
  bool has_unjudged_ = false;
};

}  // namespace che
