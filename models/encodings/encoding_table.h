#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace che {

// Numbers by index, for a reader's eye: a row for every combination of its keys.
struct EncodingTable {
  std::vector<std::string> columns;             // Names of the keys, then of the values.
  std::vector<std::vector<std::int64_t>> keys;  // What each key takes; the first one changes slowest.
  std::vector<double> values;                   // Row after row.

  // With a header line; numbers have the digits of single precision.
  std::string csv() const;
};

// The table of `values` (key..., or key..., value columns), one axis a key; a key whose entry in
// `keys` is empty counts from 0.
EncodingTable make_table(std::vector<std::string> columns, std::vector<std::vector<std::int64_t>> keys,
                         const at::Tensor& values);

}  // namespace che
