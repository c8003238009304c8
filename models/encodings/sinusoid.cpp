#include "models/encodings/sinusoid.h"

#include <ATen/ATen.h>

namespace che {

at::Tensor sinusoid(const std::vector<std::int64_t>& positions, std::int64_t width, double max_time) {
  const at::Tensor exponents = at::arange(0, width, 2, at::kDouble) / -static_cast<double>(width);
  const at::Tensor angles = at::tensor(positions, at::kDouble).unsqueeze(1) * at::pow(max_time, exponents);
  return at::cat({angles.sin(), angles.cos()}, 1);
}

}  // namespace che
