#pragma once

#include <ATen/core/Tensor.h>

#include "tasks/task.h"

namespace che {

// A batch as the model reads it.
struct TensorBatch {
  at::Tensor tokens;   // (batch, input + output length) of type long: the input, then empty symbols
  at::Tensor targets;  // (batch, output length) of type long
  at::Tensor mask;     // (batch, output length), uint8

  std::int64_t size() const { return tokens.size(0); }
  std::int64_t outputs() const { return targets.size(1); }
};

// Rows first .. first + count - 1 of `batch` in bytes of the host, (count, tokens + 2 outputs): tokens,
// targets, mask. `empty_symbol` is the id behind the task's input symbols.
at::Tensor batch_bytes(const Batch& batch, std::int64_t first, std::int64_t count, std::int64_t empty_symbol);

// What they say, on their device.
TensorBatch batch_of_bytes(const at::Tensor& bytes, std::int64_t outputs);

// Both, with one copy to `device`.
TensorBatch to_tensors(const Batch& batch, std::int64_t first, std::int64_t count, std::int64_t empty_symbol,
                       const at::Device& device);

}  // namespace che
