#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/cell_key.h"

namespace che {

// For an error about `name`, which is none of `known` as tables print them: "; did you mean 'x'?" where one
// is close, then "; known: a, b, c". The first label with this form and settings is what was meant:
// kerple(direction=symmetric) for kerple.
std::string known_encodings_hint(std::string_view name, const std::vector<EncodingLabel>& known);

}  // namespace che
