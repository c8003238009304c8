#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/result_table.h"

namespace che {

// Something that holds of all runs of a table.
struct Fact {
  std::string name;   // "Training"
  std::string value;  // "200000 steps of 128 samples"; each value once where runs differ.
};

// What the runs have in common and where they come from: training, seeds, evaluation, protocol
// options, settings that differ from the defaults, commit and device, and runs that were left out.
std::vector<Fact> provenance(const ResultTable& table);

}  // namespace che
