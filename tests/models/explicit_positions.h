#pragma once

#include <cstdint>
#include <utility>

#include "models/settings/positions.h"

namespace che {

// Positions with these distances, which lack the token itself, as in the reference files.
inline Positions positions_with_distances(Positions::Lists distances, std::int64_t max_position) {
  for (auto& list : distances) list.insert(list.begin(), 0);
  return Positions::given({}, std::move(distances), max_position);
}

}  // namespace che
