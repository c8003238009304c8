#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace che {

using Symbols = std::vector<int>;

struct Answer {
  Symbols output;
  Symbols mask;

  bool operator==(const Answer&) const = default;
};

// What the task's definition says of an input drawn for `length`, computed slowly, symbol by symbol,
// and without any code of the generators. Throws std::invalid_argument, with the reason, for an input
// that the task can never draw at that length.
// The task must have one.
Answer oracle(const std::string& task, std::int64_t length, const Symbols& input);

bool has_oracle(const std::string& task);

}  // namespace che
