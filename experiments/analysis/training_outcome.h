#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"
#include "experiments/store/metrics_row.h"

namespace che {

// What a run reached on the lengths that it is trained on, over the last tenth of the steps that it has made.
// A run that did not get beyond predictors without an input has learned nothing that could carry over to
// other lengths: its score says nothing of extrapolation.
struct TrainingOutcome {
  double accuracy = 0;  // 0 .. 1, with dropout, before each update.
  bool trained = true;  // Whether it passes the best predictor without an input by kTrainedMargin.
};

inline constexpr double kTrainedMargin = 0.02;

// Double dagger, behind what did not train.
inline constexpr const char* kUntrainedSign = "\u2021";

// Mean training accuracy over the last tenth of the steps in `metrics`, which are not empty, as far as rows
// tell the steps apart: each row is the mean of the steps since the one before.
double final_training_accuracy(const std::vector<MetricsRow>& metrics);

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
