#pragma once

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace che {

// A loop cut into parts that do not depend on the number of threads, so that sums of the parts' sums,
// taken in order, do not either.
struct Partition {
  std::int64_t items;
  std::int64_t max_parts;

  std::int64_t count() const { return std::min(items, max_parts); }
  std::int64_t begin(std::int64_t part) const { return part * items / count(); }
  std::int64_t end(std::int64_t part) const { return begin(part + 1); }

  // Calls f(begin, end) for the items of every part, in parallel within the caller's thread budget.
  template <class F>
  void for_each_part(const F& f) const {
    tbb::parallel_for(std::int64_t{0}, count(), [&](std::int64_t part) { f(begin(part), end(part)); });
  }

  // Calls f(part, item) for every item, parts in parallel and the items of a part in order.
  template <class F>
  void for_each(const F& f) const {
    tbb::parallel_for(std::int64_t{0}, count(), [&](std::int64_t part) {
      for (std::int64_t item = begin(part); item < end(part); ++item) f(part, item);
    });
  }
};

// The sum of `parts` rows of `size` values, one row behind the other. The order of additions is fixed. It is
// that of LibTorch's sum over rows, which added them up before. Columns in whole blocks of 32 take the rows
// one after the other; those behind them take four interleaved sums of rows.
inline std::vector<float> sum_of_parts(const std::vector<float>& rows, std::int64_t parts,
                                       std::int64_t size) {
  constexpr std::int64_t kBlock = 32;
  constexpr std::int64_t kInterleaved = 4;
  std::vector<float> total(static_cast<std::size_t>(size));
  const auto value = [&](std::int64_t part, std::int64_t i) {
    return rows[static_cast<std::size_t>(part * size + i)];
  };
  for (std::int64_t i = 0; i < size; ++i) {
    float& sum = total[static_cast<std::size_t>(i)];
    if (i < size / kBlock * kBlock) {
      for (std::int64_t part = 0; part < parts; ++part) sum += value(part, i);
      continue;
    }
    float sums[kInterleaved] = {};  // NOLINT(modernize-avoid-c-arrays)
    const std::int64_t whole = parts / kInterleaved * kInterleaved;
    for (std::int64_t part = 0; part < parts; ++part) {
      sums[part < whole ? part % kInterleaved : 0] += value(part, i);
    }
    sum = sums[0] + sums[1] + sums[2] + sums[3];
  }
  return total;
}

}  // namespace che
