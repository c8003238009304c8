#pragma once

#include <string>

#include "experiments/result_table.h"

namespace che {

// An aligned Markdown table in percent with one decimal: the maximum over the finished runs of a
// cell, the paper's value in parentheses, `--` where no run has finished; below it notes that say
// what the numbers are and which runs are missing.
std::string table_markdown(const ResultTable& table);

}  // namespace che
