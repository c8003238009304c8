#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace che {

// The first name among `known` that is `word` with settings, "kerple(direction=symmetric)" for "kerple"; else
// the one with the fewest edits (Damerau-Levenshtein, letter case ignored); empty when none is within a third
// of the word's length (at least 2 edits) or none shares a letter.
std::string closest_name(std::string_view word, const std::vector<std::string>& known);

// "; did you mean 'x'?" when there is a close name, then "; known: a, b, c".
std::string known_names_hint(std::string_view word, const std::vector<std::string>& known);

}  // namespace che
