#include "experiments/training/tensor_batch.h"

#include <ATen/ATen.h>

namespace che {

TensorBatch to_tensors(const Batch& batch, std::int64_t first, std::int64_t count, std::int64_t empty_symbol,
                       const at::Device& device) {
  // from_blob does not write; it only lacks a const form.
  const auto rows = [&](const std::vector<std::uint8_t>& values, std::int64_t width) {
    return at::from_blob(const_cast<std::uint8_t*>(values.data()), {batch.size, width},
                         at::TensorOptions().dtype(at::kByte))
        .slice(0, first, first + count);
  };
  const at::Tensor empty = at::full({count, batch.output_length}, empty_symbol, at::kLong);
  const at::Tensor input = rows(batch.input, batch.input_length).to(at::kLong);
  return {at::cat({input, empty}, 1).to(device),
          rows(batch.output, batch.output_length).to(at::kLong).to(device),
          rows(batch.mask, batch.output_length).to(device, at::kByte, /*non_blocking=*/false, /*copy=*/true)};
}

}  // namespace che
