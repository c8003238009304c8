#pragma once

#include <ATen/core/Tensor.h>

namespace che {

// Softmax over the last dimension. Its values and its gradient do not depend on the number of threads; the
// gradient of LibTorch's own operation does (2.11: for rows of 41 or 100 values, for example, but not of 80).
at::Tensor softmax_last(const at::Tensor& x);

}  // namespace che
