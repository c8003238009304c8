#pragma once

#include <cstdint>
#include <vector>

namespace che {

using Histogram = std::vector<std::int64_t>;

// Probability of two samples of independent draws lying at least this far apart when both come from
// one distribution: Pearson's test of homogeneity. Cells with few draws are joined with their
// neighbours, cells beyond the shorter histogram are empty. 1 when only one cell is left.
double homogeneity_p_value(Histogram a, Histogram b);

// Returns the p-value of one sample against the uniform distribution over its cells. `different` draws at a
// time are without replacement, so that the counts vary less than those of independent draws.
double uniformity_p_value(const Histogram& counts, std::int64_t different = 1);

}  // namespace che
