#include "experiments/results/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>
#include <tuple>

#include "core/error.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "experiments/published/paper_table.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

int place_of_encoding(std::string_view name) {
  const EncodingEntry* const entry = find_encoding(name);
  return entry != nullptr ? entry->place : std::numeric_limits<int>::max();
}

// Returns the row in the paper's table, or the number of its rows.
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
  // Numbers by value: length=256 before length=1024.
  if (one_level == other_level && one_level == Level::kText) {
    return ::strverscmp(one.text().c_str(), other.text().c_str()) < 0;
  }
  return key(one_level, one) < key(other_level, other);
}

std::vector<EncodingLabel> columns_without(const std::set<EncodingLabel>& labels,
                                           const std::set<EncodingLabel>& removed) {
  std::vector<EncodingLabel> rest;
  std::ranges::set_difference(labels, removed, std::back_inserter(rest));
  std::ranges::sort(rest, encoding_before);
  return rest;
}

namespace {

// Cuts the settings off a name that a person typed.
std::string_view form_in(std::string_view name) { return name.substr(0, name.find('(')); }

std::vector<EncodingLabel> of_form(std::string_view form, const std::vector<EncodingLabel>& labels) {
  std::vector<EncodingLabel> matching;
  std::ranges::copy_if(labels, std::back_inserter(matching),
                       [&](const EncodingLabel& label) { return label.form.text() == form; });
  return matching;
}

// True if `labels` have the named column and the table has no column of its form.
bool is_only_in(const std::vector<EncodingLabel>& labels, std::string_view name, const ColumnNames& names) {
  if (std::ranges::count(labels, name, &EncodingLabel::text) > 0) return true;
  return of_form(form_in(name), names.columns).empty() && !of_form(form_in(name), labels).empty();
}

// Returns the one column with this form, else the closest text.
std::string suggested_column(std::string_view name, const std::vector<EncodingLabel>& columns) {
  const std::vector<EncodingLabel> same_form = of_form(form_in(name), columns);
  if (same_form.size() == 1) return same_form.front().text();
  std::vector<std::string> texts;
  texts.reserve(columns.size());
  for (const EncodingLabel& label : columns) texts.push_back(label.text());
  return closest_name(name, texts);
}

}  // namespace

std::string column_list(const std::vector<EncodingLabel>& labels) {
  return joined(labels, ", ", [](const EncodingLabel& label) { return shell_word(label.text()); });
}

EncodingLabel column_named(std::string_view name, const ColumnNames& names, std::string_view other) {
  const std::vector<EncodingLabel>& columns = names.columns;
  const auto found = std::ranges::find(columns, name, &EncodingLabel::text);
  if (found != columns.end()) return *found;
  const auto refusal = [&](const std::string& problem) {
    return Error(fmt::format("'{}' {}", one_line(name), problem));
  };
  const std::vector<EncodingLabel> same_form = of_form(name, columns);
  if (same_form.size() > 1) {
    throw refusal(
        fmt::format("stands for {} columns; name one of them: {}", same_form.size(), column_list(same_form)));
  }
  if (is_only_in(names.not_chosen, name, names)) {
    throw refusal(fmt::format("is left out by --only or --skip; there are: {}", column_list(columns)));
  }
  if (is_only_in(names.unfinished, name, names)) {
    throw refusal(fmt::format("has no finished run; there are: {}", column_list(columns)));
  }
  std::vector<EncodingLabel> free = columns;
  std::erase_if(free, [&](const EncodingLabel& label) { return label.text() == other; });
  const std::string suggestion = suggested_column(name, free);
  throw refusal(
      fmt::format("is no encoding of this experiment{}; known: {}",
                  suggestion.empty() ? "" : fmt::format("; did you mean {}?", quoted_shell_word(suggestion)),
                  column_list(columns)));
}

}  // namespace che
