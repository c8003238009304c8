#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

namespace che {

// `values`, a tensor of the host, with the type and on the device of `options`. Neither waits for the other:
// what goes to another device than a CPU goes through memory that the device reads itself (pinned).
at::Tensor upload(const at::Tensor& values, const at::TensorOptions& options);

}  // namespace che
