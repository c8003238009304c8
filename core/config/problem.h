#pragma once

#include <string>
#include <vector>

namespace che {

// Values of a config that are allowed by themselves and do not fit together.
struct ConfigProblem {
  std::vector<std::string> paths;  // Key paths of the values, first the one that is to be changed.
  std::string text;                // What is wrong, what is allowed and what to change.

  // "model.width, model.heads: what is wrong".
  std::string message() const;
};

}  // namespace che
