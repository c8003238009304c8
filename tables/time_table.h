#pragma once

#include <string>

#include "experiments/analysis/step_times.h"

namespace che {

// Markdown: for each task one row per encoding, milliseconds per training step by training lengths and per
// batch of kEvaluationBatch test samples by test lengths, each followed by its ratio to the encoding that
// tables call `base`. A number is the median over a cell's runs. Throws Error (usage) when no run has `base`.
std::string time_table(const StepTimes& times, const std::string& base);

}  // namespace che
