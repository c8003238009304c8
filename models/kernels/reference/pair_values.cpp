#include "models/kernels/reference/pair_values.h"

#include <ATen/ATen.h>

namespace che {

at::Tensor PairValues::dense(std::int64_t queries, std::int64_t keys) const {
  if (!by_offset) return values.view({values.size(0), values.size(1), queries, keys});
  // Query i, key j read offset j - i, element j - i + T - 1: windows of T, the first query's last.
  return values.unfold(2, keys, 1).flip(2).slice(2, keys - queries);
}

}  // namespace che
