#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/cell_key.h"
#include "tasks/task.h"

namespace che {

// Returns whether the column `one` stands before `other`. Plain encodings come first, then randomized_*,
// dape_* and randomized_dape_*, as the paper orders its columns, then models outside che. Within each group,
// columns go by EncodingEntry::place, then by name, then by settings with numbers by value.
bool encoding_before(const EncodingLabel& one, const EncodingLabel& other);

// True if a row of this level and task stands before another: levels and tasks in the order of the paper's
// table, then others by name; last by settings.
bool task_before(Level one_level, const TaskLabel& one, Level other_level, const TaskLabel& other);

// Returns the labels that are not among `removed`, in the order of encoding_before.
std::vector<EncodingLabel> columns_without(const std::set<EncodingLabel>& labels,
                                           const std::set<EncodingLabel>& removed);

// The columns that a command line can name, and the columns of runs that are no part of the table.
struct ColumnNames {
  std::vector<EncodingLabel> columns;
  std::vector<EncodingLabel> not_chosen = {};  // --only leaves their runs out.
  std::vector<EncodingLabel> unfinished = {};  // None of their runs counts.
};

// Lists labels as a shell takes them, those with spaces or parentheses in quotes:
// "rope, 'rope(scaling=yarn)'".
std::string column_list(const std::vector<EncodingLabel>& labels);

// Returns the column that tables print as `name`. Throws Error (usage), which lists the columns, for a form
// that stands for several columns and for a column that --only leaves out or that has no finished run. For
// any other name it adds the closest column. It does not suggest the column `other`, which the command line
// names already.
EncodingLabel column_named(std::string_view name, const ColumnNames& names, std::string_view other = "");

}  // namespace che
