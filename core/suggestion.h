#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace che {

// Returns the name that `word` may be meant to be, whatever the case of its letters. It is the only one that
// it abbreviates ("lr" and "learn" of "learning_rate"), else the one with the fewest edits
// (Damerau-Levenshtein; another first letter counts as two). A word of up to four letters allows one edit, a
// longer one two or a third of its letters. The result is empty when no name is as close.
std::string closest_name(std::string_view word, const std::vector<std::string>& known);

// "; did you mean 'x'?" unless `suggestion` is empty, then "; known: a, b, c" with `title` for "known".
std::string names_hint(std::string_view suggestion, const std::vector<std::string>& known,
                       std::string_view title = "known");

// Returns that hint with the closest name as the suggestion.
std::string known_names_hint(std::string_view word, const std::vector<std::string>& known,
                             std::string_view title = "known");

// Returns the entry of one of `folders` that a misspelt `name` may stand for, among those that `is_candidate`
// accepts. An empty path is the current folder. Files are compared without their extension. An equal name in
// any of the folders wins, then the closest name of the first folder that has one. Empty for none.
std::filesystem::path closest_path(std::string_view name, const std::vector<std::filesystem::path>& folders,
                                   const std::function<bool(const std::filesystem::path&)>& is_candidate);

}  // namespace che
