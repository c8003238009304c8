#pragma once

#include <cstdint>
#include <vector>

#include "experiments/config.h"

namespace che {

// What predictors score that never look at the input, on the very samples that models are evaluated
// on. They are fitted to other samples, so that a task without structure gives chance and no more.
struct TrivialBaselines {
  struct AtLength {
    std::int64_t length;
    double constant;       // Accuracy, 0 .. 1
    double position_only;  // Accuracy, 0 .. 1
  };

  char symbol = ' ';         // What the constant predictor says.
  double constant = 0;       // Score of the best symbol for all lengths.
  double position_only = 0;  // Score of the likeliest symbol of each place in the output of each length.
  std::vector<AtLength> lengths;
};

// Measures them from the task's generator; the same config gives the same numbers.
TrivialBaselines measure_trivial_baselines(const TaskConfig& task, const EvaluationConfig& evaluation);

}  // namespace che
