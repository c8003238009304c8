#pragma once

#include <cstdint>
#include <vector>

namespace che {

// ALiBi's slope of each head (arXiv 2108.12409): 2^(-8h/H), h = 1..H, for H a power of two. For
// other H, the slopes of the largest power of two P below H, followed by every second one of 2P's
// until there are H.
std::vector<double> alibi_slopes(std::int64_t heads);

}  // namespace che
