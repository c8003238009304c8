#include "experiments/analysis/encoding_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "core/suggestion.h"
#include "core/text.h"

namespace che {
namespace {

// Of a name that a person typed, without its settings.
std::string_view form_in(std::string_view name) { return name.substr(0, name.find('(')); }

std::vector<EncodingLabel> of_form(std::string_view form, const std::vector<EncodingLabel>& labels) {
  std::vector<EncodingLabel> found;
  std::ranges::copy_if(labels, std::back_inserter(found),
                       [&](const EncodingLabel& label) { return label.form.text() == form; });
  return found;
}

// Whether `labels` have what the name stands for and the table's columns have nothing of that form.
bool is_only_in(const std::vector<EncodingLabel>& labels, std::string_view name, const ColumnNames& names) {
  if (std::ranges::count(labels, name, &EncodingLabel::text) > 0) return true;
  return of_form(form_in(name), names.columns).empty() && !of_form(form_in(name), labels).empty();
}

// The one column with this form, else the nearest text.
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
  std::vector<std::string> words;
  words.reserve(labels.size());
  for (const EncodingLabel& label : labels) words.push_back(shell_word(label.text()));
  return fmt::format("{}", fmt::join(words, ", "));
}

EncodingLabel column_named(std::string_view name, const ColumnNames& names, std::string_view option,
                           std::string_view other) {
  const std::vector<EncodingLabel>& columns = names.columns;
  const auto found = std::ranges::find(columns, name, &EncodingLabel::text);
  if (found != columns.end()) return *found;
  const auto refusal = [&](const std::string& problem) {
    return Error(fmt::format("{}: '{}' {}", option, one_line(name), problem));
  };
  const std::vector<EncodingLabel> same_form = of_form(name, columns);
  if (same_form.size() > 1) {
    throw refusal(
        fmt::format("stands for {} columns; name one of them: {}", same_form.size(), column_list(same_form)));
  }
  if (is_only_in(names.not_chosen, name, names)) {
    throw refusal(fmt::format("is left out by --only; there are: {}", column_list(columns)));
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
