#include "experiments/training/tensor_batch.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include "models/ops/device/step_uploads.h"

namespace che {

at::Tensor batch_bytes(const Batch& batch, std::int64_t first, std::int64_t count,
                       std::int64_t empty_symbol) {
  // from_blob does not write; it only lacks a const form.
  const auto rows = [&](const std::vector<std::uint8_t>& values, std::int64_t width) {
    return at::from_blob(const_cast<std::uint8_t*>(values.data()), {batch.size, width},
                         at::TensorOptions().dtype(at::kByte))
        .slice(0, first, first + count);
  };
  const at::Tensor empty = at::full({count, batch.output_length}, empty_symbol, at::kByte);
  return at::cat({rows(batch.input, batch.input_length), empty, rows(batch.output, batch.output_length),
                  rows(batch.mask, batch.output_length)},
                 1);
}

TensorBatch batch_of_bytes(const at::Tensor& bytes, std::int64_t outputs) {
  const std::int64_t tokens = bytes.size(1) - 2 * outputs;
  return {bytes.slice(1, 0, tokens).to(at::kLong), bytes.slice(1, tokens, tokens + outputs).to(at::kLong),
          bytes.slice(1, tokens + outputs).contiguous()};
}

TensorBatch to_tensors(const Batch& batch, std::int64_t first, std::int64_t count, std::int64_t empty_symbol,
                       const at::Device& device) {
  RECORD_FUNCTION("che::batch", {});
  return batch_of_bytes(upload(batch_bytes(batch, first, count, empty_symbol),
                               at::TensorOptions().dtype(at::kByte).device(device)),
                        batch.output_length);
}

}  // namespace che
