#include "experiments/training/tensor_batch.h"

#include <ATen/ATen.h>

#include "models/parameters/upload.h"

namespace che {

TensorBatch to_tensors(const Batch& batch, std::int64_t first, std::int64_t count, std::int64_t empty_symbol,
                       const at::Device& device) {
  // from_blob does not write; it only lacks a const form.
  const auto rows = [&](const std::vector<std::uint8_t>& values, std::int64_t width) {
    return at::from_blob(const_cast<std::uint8_t*>(values.data()), {batch.size, width},
                         at::TensorOptions().dtype(at::kByte))
        .slice(0, first, first + count);
  };
  // One copy of bytes, which the device widens.
  const at::Tensor empty = at::full({count, batch.output_length}, empty_symbol, at::kByte);
  const at::Tensor all =
      upload(at::cat({rows(batch.input, batch.input_length), empty, rows(batch.output, batch.output_length),
                      rows(batch.mask, batch.output_length)},
                     1),
             at::TensorOptions().dtype(at::kByte).device(device));
  const std::int64_t tokens = batch.input_length + batch.output_length;
  return {all.slice(1, 0, tokens).to(at::kLong),
          all.slice(1, tokens, tokens + batch.output_length).to(at::kLong),
          all.slice(1, tokens + batch.output_length).contiguous()};
}

}  // namespace che
