#pragma once

#include <cstdint>
#include <string>

#include "experiments/plan/sweep.h"

namespace che {

// One of `count` parts of a config's runs, for as many machines that share nothing.
struct Shard {
  std::int64_t number = 1;  // From 1.
  std::int64_t count = 1;
};

// Reads "3/8". Throws Error (usage) for another text.
Shard parse_shard(const std::string& text);

// Leaves the runs of this part; the others join sweep.not_chosen. The parts have about equal operations, also
// among the first runs of all cells, among the second, and so on. They depend on all runs of the config and
// not on which of them conditions choose, so that passes with other conditions take the same run to the same
// part. Runs that train in lock-step stay together. Throws Error (usage) where no run is left.
void take_shard(Sweep& sweep, const Shard& shard);

}  // namespace che
