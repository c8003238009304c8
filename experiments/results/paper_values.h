#pragma once

#include "experiments/results/result_table.h"

namespace che {

// Sets TableCell::paper where the paper has a value for a cell, and ResultTable::paper_gaps. Encoders have
// those of their task, decoders those of a text whose corpus.json names one of the paper's, in the rows of
// the paper's training and test lengths.
void add_paper_values(ResultTable& table);

}  // namespace che
