#pragma once

#include "experiments/plan/cell_key.h"
#include "tasks/task.h"

namespace che {

// Whether the column `one` stands before `other`: plain encodings, then randomized_*, dape_* and
// randomized_dape_*, as the paper orders its columns, then models outside che; each by EncodingEntry::place,
// then by name; last by settings, numbers by value.
bool encoding_before(const EncodingLabel& one, const EncodingLabel& other);

// Whether a row of this level and task stands before another: levels and tasks in the order of the paper's
// table, then others by name; last by settings.
bool task_before(Level one_level, const TaskLabel& one, Level other_level, const TaskLabel& other);

}  // namespace che
