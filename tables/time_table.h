#pragma once

#include <string>
#include <string_view>

#include "experiments/results/step_times.h"
#include "tables/formats/table.h"

namespace che {

// In one of table_formats(): for each task one row per encoding, milliseconds per training step by training
// lengths and per batch of kEvaluationBatch test samples by test lengths, each followed by its ratio to the
// encoding that tables call `base`; to the first of dape_kerple, or without it the first row, where `base` is
// empty. A number is the median over a cell's runs. As csv and json it has one row per task, measurement,
// encoding and lengths. Throws Error (usage) when no run has a `base` that is named.
std::string time_table(const StepTimes& times, const std::string& base, std::string_view format = "md",
                       const TerminalStyle& style = {});

}  // namespace che
