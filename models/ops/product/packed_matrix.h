#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "models/ops/product/product.h"

namespace che {

// A matrix (k, n) of single precision in the order in which the BLAS reads it. Products of few rows spend a
// tenth of their time on that order; many of them share it here. For a CPU.
class PackedMatrix {
 public:
  // If `is_transposed`, b is (n, k).
  PackedMatrix(MatrixRows b, std::int64_t n, std::int64_t k, bool is_transposed);

  // Writes a b to `out` (m, n), or adds it; a (m, k). Runs in the calling thread, and every bit is that of
  // multiply_here().
  void multiply(float* out, std::int64_t out_stride, MatrixRows a, std::int64_t m, Write write) const;

 private:
  struct Free {
    void operator()(void* values) const { std::free(values); }
  };

  int n_, k_;
  std::unique_ptr<void, Free> values_;  // Aligned; its form is that of the product.
};

}  // namespace che
