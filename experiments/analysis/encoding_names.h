#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/cell_key.h"

namespace che {

// The columns that a command line can name, and those of runs that are no part of the table.
struct ColumnNames {
  std::vector<EncodingLabel> columns;
  std::vector<EncodingLabel> not_chosen = {};  // Of runs that --only leaves out.
  std::vector<EncodingLabel> unfinished = {};  // Of runs that do not count.
};

// The labels as a shell takes them, those with spaces or parentheses in quotes: "rope, 'rope(scaling=yarn)'".
std::string column_list(const std::vector<EncodingLabel>& labels);

// The column that `name` names, as tables print it. Throws Error (usage) that begins with `option` and lists
// the columns: for a form that stands for several columns, for a column that --only leaves out or that has no
// finished run, and for a name of none, with the column that may be meant. It suggests no column that `other`
// names, which the command line has already.
EncodingLabel column_named(std::string_view name, const ColumnNames& names, std::string_view option,
                           std::string_view other = "");

}  // namespace che
