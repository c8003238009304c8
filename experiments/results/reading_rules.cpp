#include "experiments/results/reading_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/suggestion.h"

namespace che {

LengthChoice::LengthChoice(const std::string& text) : text_(text) {
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find(',', first), text.size());
    const std::string item = text.substr(first, end - first);
    const auto range = parse_number_or_range(item);
    if (!range) {
      throw Error(fmt::format(
          "--score-lengths {}: got '{}'; allowed: lengths and ranges with commas between them, such as "
          "50,100,200 or 95:500; a range is {}",
          text, item, kIntegerRangeForms));
    }
    ranges_.push_back(*range);
    first = end + 1;
  }
}

bool LengthChoice::contains(std::int64_t length) const {
  return std::ranges::any_of(ranges_, [&](const IntegerRange& range) {
    return length >= range.first && length <= range.last && (length - range.first) % range.step == 0;
  });
}

const std::vector<std::string>& selection_rule_names() {
  static const std::vector<std::string> names = {"training", "validation"};
  return names;
}

const std::string& selection_rule_name(SelectionRule rule) {
  return selection_rule_names()[static_cast<std::size_t>(rule)];
}

SelectionRule selection_rule_named(const std::string& name) {
  const auto& names = selection_rule_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw Error("unknown rule of selection '" + name + "'" + known_names_hint(name, names));
  }
  return static_cast<SelectionRule>(found - names.begin());
}

std::string lengths_option(const std::vector<std::int64_t>& lengths) {
  if (lengths.size() > 2) {
    const std::int64_t step = lengths[1] - lengths[0];
    const auto differs = [&](std::int64_t one, std::int64_t next) { return next - one != step; };
    if (std::ranges::adjacent_find(lengths, differs) == lengths.end()) {
      const std::string range = fmt::format("{}:{}", lengths.front(), lengths.back());
      return step == 1 ? range : fmt::format("{}:{}", range, step);
    }
  }
  return fmt::format("{}", fmt::join(lengths, ","));
}

}  // namespace che
