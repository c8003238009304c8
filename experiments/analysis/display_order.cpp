#include "experiments/analysis/display_order.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <tuple>

#include "experiments/analysis/paper_table.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

constexpr std::array<std::string_view, 3> kLevels = {"regular", "dcf", "cs"};

// Index of `word`, or the number of words.
template <std::size_t N>
std::size_t rank(const std::array<std::string_view, N>& words, std::string_view word) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

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

bool task_before(std::string_view one_level, const TaskLabel& one, std::string_view other_level,
                 const TaskLabel& other) {
  const auto key = [](std::string_view level, const TaskLabel& task) {
    return std::tuple(rank(kLevels, level), place_of_task(task.name), task);
  };
  return key(one_level, one) < key(other_level, other);
}

}  // namespace che
