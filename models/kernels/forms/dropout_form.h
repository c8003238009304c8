#pragma once

#include <cstdint>

#include "models/kernels/forms/dropout.h"

namespace che {

// What dropout() of models/kernels/dropout.h reads. Rows are tokens.
struct DropoutInputs {
  std::int64_t replicas;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t width;
  const float* values;  // (replicas, batch, rows, width), contiguous
  DropoutSite site;
};

struct DropoutForm {
  // Whether apply() takes so many replicas and examples of each.
  bool (*serves)(std::int64_t replicas, std::int64_t batch);

  // Writes out, like values: each times its factor.
  void (*apply)(const DropoutInputs& in, float* out);
};

}  // namespace che
