#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/results/result_table.h"
#include "tables/formats/table.h"

namespace che {

// The results that figures are drawn from.
struct FigureSource {
  const ResultTable& table;
  Aggregate aggregate = Aggregate::kMax;
  std::vector<std::pair<std::string, std::string>> compared =
      {};                  // Columns; chosen by default_pairs() if empty.
  bool by_length = false;  // Whether comparisons have a row for each test length.
};

// The data of the figures: one tidy table each, in which every shown number stands. Fractions are 0 to 1. A
// table without rows has nothing to draw. docs/results-format.md describes the columns.
DataTable accuracy_data(const FigureSource& source);
DataTable difference_data(const FigureSource& source);
DataTable map_data(const FigureSource& source);
DataTable run_data(const FigureSource& source);
// Both have rows for runs on texts only.
DataTable perplexity_data(const FigureSource& source);
DataTable position_data(const FigureSource& source);
DataTable learning_data(const FigureSource& source);
DataTable step_data(const FigureSource& source);
DataTable effect_data(const FigureSource& source);

// Appends to each row which test lengths and runs were chosen, how many of these runs have a score, and how
// many there are, so that a figure's caption can say so.
void add_choice(DataTable& data, const ResultTable& table);

}  // namespace che
