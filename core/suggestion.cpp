#include "core/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <system_error>

#include "core/files.h"

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

// Edits, and one more for another first letter: people rarely mistype the first one.
std::size_t distance(std::string_view word, std::string_view name) {
  if (name.empty()) return word.size();
  const bool replaced = word.size() == name.size() && lower(word[0]) != lower(name[0]);
  const bool swapped =
      replaced && word.size() > 1 && lower(word[0]) == lower(name[1]) && lower(word[1]) == lower(name[0]);
  return edits(word, name) + (replaced && !swapped ? 1 : 0);
}

// "lr" of "learning_rate".
bool has_initials(std::string_view name, std::string_view word) {
  std::string initials;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '_' && (i == 0 || name[i - 1] == '_')) initials += lower(name[i]);
  }
  return word.size() > 1 && std::ranges::equal(initials, word, {}, {}, lower);
}

// "parity" of "parity_check".
bool is_beginning(std::string_view name, std::string_view word) {
  return word.size() > 2 && word.size() < name.size() &&
         std::ranges::equal(name.substr(0, word.size()), word, {}, lower, lower);
}

// The only name that `word` abbreviates; empty when there is none or several.
std::string abbreviated_name(std::string_view word, const std::vector<std::string>& known) {
  std::string found;
  for (const std::string& name : known) {
    if (!has_initials(name, word) && !is_beginning(name, word)) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

}  // namespace

std::string closest_name(std::string_view word, const std::vector<std::string>& known) {
  // A word of hundreds of letters is no misspelling, and comparing it would take long.
  constexpr std::size_t kMaxWord = 200;
  if (word.empty() || word.size() > kMaxWord) return {};
  if (std::string name = abbreviated_name(word, known); !name.empty()) return name;
  std::size_t fewest = (word.size() < 5 ? 1 : std::max<std::size_t>(2, word.size() / 3)) + 1;
  std::string closest;
  for (const std::string& name : known) {
    const std::size_t count = distance(word, name);
    // A name that shares no letter with a short word is no suggestion.
    if (count < fewest && count < std::max(word.size(), name.size())) {
      fewest = count;
      closest = name;
    }
  }
  return closest;
}

std::filesystem::path closest_path(std::string_view name, const std::vector<std::filesystem::path>& folders,
                                   const std::function<bool(const std::filesystem::path&)>& is_candidate) {
  namespace fs = std::filesystem;
  fs::path closest;
  for (const fs::path& folder : folders) {
    std::map<std::string, fs::path> paths;
    std::error_code error;
    for (const fs::path& entry : entries_of(folder.empty() ? fs::path(".") : folder, error)) {
      const fs::path path = folder / entry.filename();
      std::error_code ignored;
      const fs::path shown = fs::is_directory(path, ignored) ? path.filename() : path.stem();
      if (is_candidate(path)) paths.emplace(shown.string(), path);
    }
    if (const auto equal = paths.find(std::string(name)); equal != paths.end()) return equal->second;
    std::vector<std::string> names;
    names.reserve(paths.size());
    for (const auto& [shown, path] : paths) names.push_back(shown);
    const std::string nearest = closest_name(name, names);
    if (closest.empty() && !nearest.empty()) closest = paths.at(nearest);
  }
  return closest;
}

std::string names_hint(std::string_view suggestion, const std::vector<std::string>& known,
                       std::string_view title) {
  return fmt::format("{}; {}: {}", suggestion.empty() ? "" : fmt::format("; did you mean '{}'?", suggestion),
                     title, fmt::join(known, ", "));
}

std::string known_names_hint(std::string_view word, const std::vector<std::string>& known,
                             std::string_view title) {
  return names_hint(closest_name(word, known), known, title);
}

}  // namespace che
