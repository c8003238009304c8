#pragma once

#include <cstdint>
#include <vector>

namespace che {

// The sum of `parts` rows of `size` values, one row behind the other. The order of additions is fixed, and
// the one of LibTorch's sum over rows, which added them up before: columns in whole blocks of 32 take the
// rows one after the other, those behind them take four interleaved sums of rows.
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
    float sums[kInterleaved] = {};
    const std::int64_t whole = parts / kInterleaved * kInterleaved;
    for (std::int64_t part = 0; part < parts; ++part) {
      sums[part < whole ? part % kInterleaved : 0] += value(part, i);
    }
    sum = sums[0] + sums[1] + sums[2] + sums[3];
  }
  return total;
}

}  // namespace che
