#include "experiments/analysis/display_order.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <tuple>

#include "experiments/analysis/paper_table.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

int place_of_encoding(std::string_view name) {
  const EncodingEntry* const entry = find_encoding(name);
  return entry != nullptr ? entry->place : std::numeric_limits<int>::max();
}

// Row of the paper's table, or the number of its rows.
std::size_t place_of_task(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(paper_tasks(), name, &PaperTask::name) -
                                  paper_tasks().begin());
}

}  // namespace

bool encoding_before(const EncodingLabel& one, const EncodingLabel& other) {
  const auto key = [](const EncodingForm& form) {
    return std::tuple(form.foreign, form.dape, form.randomized, place_of_encoding(form.name),
                      std::string_view(form.name));
  };
  if (one.form != other.form) return key(one.form) < key(other.form);
  // Numbers by value: hidden=4 before hidden=16.
  return ::strverscmp(one.settings_text().c_str(), other.settings_text().c_str()) < 0;
}

bool task_before(Level one_level, const TaskLabel& one, Level other_level, const TaskLabel& other) {
  const auto key = [](Level level, const TaskLabel& task) {
    return std::tuple(level, place_of_task(task.name), task);
  };
  return key(one_level, one) < key(other_level, other);
}

}  // namespace che
