#include "models/encodings/encoding_table.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <numeric>

namespace che {

EncodingTable make_table(std::vector<std::string> columns, std::vector<std::vector<std::int64_t>> keys,
                         const at::Tensor& values) {
  for (std::size_t axis = 0; axis < keys.size(); ++axis) {
    if (!keys[axis].empty()) continue;
    keys[axis].resize(static_cast<std::size_t>(values.size(static_cast<std::int64_t>(axis))));
    std::iota(keys[axis].begin(), keys[axis].end(), 0);
  }
  const at::Tensor copy = values.detach().to(at::kCPU, at::kDouble).contiguous();
  return {
      std::move(columns), std::move(keys), {copy.data_ptr<double>(), copy.data_ptr<double>() + copy.numel()}};
}

std::string EncodingTable::csv() const {
  const std::size_t value_columns = columns.size() - keys.size();
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "{}\n", fmt::join(columns, ","));
  std::vector<std::size_t> index(keys.size(), 0);
  for (std::size_t first = 0; first < values.size(); first += value_columns) {
    for (std::size_t axis = 0; axis < keys.size(); ++axis) {
      fmt::format_to(std::back_inserter(text), "{},", keys[axis][index[axis]]);
    }
    for (std::size_t i = 0; i < value_columns; ++i) {
      fmt::format_to(std::back_inserter(text), "{:.9g}{}",
                     values[first + i] + 0.0,  // Without the sign of zeros.
                     i + 1 == value_columns ? '\n' : ',');
    }
    for (std::size_t axis = keys.size(); axis-- > 0 && ++index[axis] == keys[axis].size();) index[axis] = 0;
  }
  return fmt::to_string(text);
}

}  // namespace che
