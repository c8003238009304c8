#include "models/kernels/cuda_host/upload.h"

#include <ATen/ATen.h>

namespace che {

at::Tensor upload(const at::Tensor& values, const at::TensorOptions& options) {
  const at::Tensor converted = values.to(options.dtype());
  if (options.device().is_cpu()) return converted;
  return converted.contiguous().pin_memory().to(options.device(), options.dtype().toScalarType(),
                                                /*non_blocking=*/true);
}

}  // namespace che
