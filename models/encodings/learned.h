// Learned absolute positions (arXiv 1706.03762, 1705.03122): x_t += E[p_t], one row a position.
//
// The table's length is a setting of its own rather than max_position, because contiguous positions
// have no maximum and a run is the same whatever max_position it does not read.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>

#include "models/settings/encoding_entry.h"

namespace che {

struct LearnedOptions {
  std::int64_t rows = 2048;  // L

  void visit_fields(FieldVisitor& visit) {
    visit.integer({"rows", "positions that the table has a row for"}, rows, 1, 10'000'000);
  }
};

inline std::optional<ConfigProblem> learned_problem(const EncodingUse& use) {
  const std::int64_t rows = use.options.as<LearnedOptions>().rows;
  if (use.max_position > rows) {
    return ConfigProblem{
        {"encoding.rows"},
        fmt::format(
            "learned has rows for {} positions and encoding.max_position is {}; raise rows to {} or lower "
            "max_position",
            rows, use.max_position, use.max_position)};
  }
  if (use.max_position == 0 && use.tokens > rows) {
    return ConfigProblem{
        {"encoding.rows"},
        fmt::format(
            "learned has rows for {} positions and the longest sequence has {} tokens; raise rows to {}, "
            "or train and test on shorter lengths",
            rows, use.tokens, use.tokens)};
  }
  return std::nullopt;
}

inline const Registered<EncodingEntry> learned_entry{{
    .name = "learned",
    .summary = "a learned vector for each absolute position, added to the embedding",
    .formula = "x_t += E[p_t]",
    .source = "Gehring et al., arXiv 1705.03122",
    .needs_whole_positions = true,
    .place = 1,
    .options = LearnedOptions(),
    .problem = learned_problem,
}};

}  // namespace che
