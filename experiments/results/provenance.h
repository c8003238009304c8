#pragma once

#include <string>
#include <vector>

#include "experiments/results/result_table.h"

namespace che {

// A fact about all runs of a table.
struct Fact {
  std::string name;   // "Training"
  std::string value;  // "200000 steps of 128 samples"; each value once where runs differ.
  // Whether the numbers cannot be read without it: which runs were chosen or left out, how models of che and
  // others beside them were trained, and what rows have of their own.
  bool is_needed = false;
};

// Describes the runs and their origin: training, seeds, evaluation, protocol options, settings off their
// defaults, commit and device, and runs that were left out.
std::vector<Fact> provenance(const ResultTable& table);

// Names the columns whose form in an encoder no program has released, in a sentence; empty without any.
std::string own_forms(const ResultTable& table);

}  // namespace che
