#include "core/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace che {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, where no letter
// is edited twice (optimal string alignment).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string closest_name(std::string_view word, const std::vector<std::string>& known) {
  // A word of thousands of letters is no misspelling, and comparing it would take long.
  constexpr std::size_t kLongestWord = 200;
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::string with_settings = std::string(word) + "(";
  for (const std::string& name : known) {
    if (name.starts_with(with_settings)) return name;
  }
  std::size_t fewest = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string closest;
  for (const std::string& name : known) {
    const std::size_t count = edits(word, name);
    // A name that shares no letter with a short word is no suggestion.
    if (count < fewest && count < std::max(word.size(), name.size())) {
      fewest = count;
      closest = name;
    }
  }
  return closest;
}

std::string known_names_hint(std::string_view word, const std::vector<std::string>& known) {
  const std::string closest = closest_name(word, known);
  const std::string suggestion = closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest);
  return fmt::format("{}; known: {}", suggestion, fmt::join(known, ", "));
}

}  // namespace che
