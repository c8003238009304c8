#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"
#include "experiments/store/run_rows.h"

namespace che {

// What a run reached on the lengths that it is trained on, over the last tenth of the steps that it has made.
// A run that did not get beyond predictors without an input has learned nothing that could carry over to
// other lengths: its score says nothing of extrapolation.
struct TrainingOutcome {
  double accuracy = 0;    // 0 .. 1, with dropout, before each update.
  bool trained = true;    // Whether it passes the best predictor without an input by kTrainedMargin.
  bool diverged = false;  // See divergence().
};

inline constexpr double kTrainedMargin = 0.02;

// Double dagger, behind what did not train.
inline constexpr const char* kUntrainedSign = "\u2021";

// Mean training accuracy over the last tenth of the steps in `metrics`, which are not empty, as far as rows
// tell the steps apart: each row is the mean of the steps since the one before.
double final_training_accuracy(const std::vector<MetricsRow>& metrics);

// A training loss at the end that is worse than that of a model which has learned nothing.
struct Divergence {
  double loss = 0;       // Nats per output symbol, mean over the last tenth of the steps.
  double untrained = 0;  // A model without training has at most this loss.
};

// Whether training ended worse than it began. A model without training has at most ln(number of output
// symbols), the loss of a uniform guess, plus 1/2 on average: its last features have mean square 1
// (LayerNorm) and its output weights variance 1/width at most, so that logits have variance 1, and the mean
// of ln(sum of exp) exceeds that of equal logits by no more than half of it. The first row of metrics is no
// measure of it: it is the mean of steps in which a model has learned, or in which one with a high learning
// rate has diverged already. Nothing for a run that did not diverge, or without metrics.
std::optional<Divergence> divergence(const RunConfig& config, const std::vector<MetricsRow>& metrics);

// "diverged: training loss 2.31 at the end, at most 1.19 without training"
std::string divergence_text(const Divergence& divergence);

// Measures the best predictor without an input once for each task and training lengths.
class TrainingJudge {
 public:
  // Nothing without metrics.
  std::optional<TrainingOutcome> judge(const RunConfig& config, const std::vector<MetricsRow>& metrics);

 private:
  double best_without_input(const RunConfig& config);

  std::map<std::string, double> measured_;
};

}  // namespace che
