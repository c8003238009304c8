#include "models/ops/product/packed_matrix.h"

#include <cstddef>
#include <new>

#include "models/ops/product/product_kernels.h"

// Of MKL, which LibTorch's CPU library contains; the constants are those of its header.
extern "C" {
std::size_t cblas_sgemm_pack_get_size(int identifier, int m, int n, int k);
void cblas_sgemm_pack(int layout, int identifier, int transpose, int m, int n, int k, float alpha,
                      const float* matrix, int stride, float* packed);
void cblas_sgemm_compute(int layout, int transpose_a, int transpose_b, int m, int n, int k, const float* a,
                         int lda, const float* b, int ldb, float beta, float* c, int ldc);
}

namespace che {
namespace {

constexpr int kRowMajor = 101, kNotTransposed = 111, kTransposed = 112, kPacked = 151, kMatrixB = 162;
// The layout does not depend on the number of rows that it is asked for.
constexpr int kAnyRows = 64;
constexpr std::size_t kBufferAlignment = 64;

}  // namespace

PackedMatrix::PackedMatrix(MatrixRows b, std::int64_t n, std::int64_t k, bool is_transposed)
    : n_(static_cast<int>(n)), k_(static_cast<int>(k)) {
  const std::size_t bytes = has_tile_kernel()
                                ? static_cast<std::size_t>(packed_units(n, k)) * sizeof(std::uint32_t)
                                : cblas_sgemm_pack_get_size(kMatrixB, kAnyRows, n_, k_);
  const std::size_t rounded = (bytes + kBufferAlignment) / kBufferAlignment * kBufferAlignment;
  values_.reset(std::aligned_alloc(kBufferAlignment, rounded));
  if (values_ == nullptr) throw std::bad_alloc();
  if (has_tile_kernel()) {
    const std::int64_t row_stride = is_transposed ? 1 : b.stride,
                       column_stride = is_transposed ? b.stride : 1;
    pack_matrix(static_cast<std::uint32_t*>(values_.get()), {b.data, row_stride, column_stride}, n, k);
    return;
  }
  cblas_sgemm_pack(kRowMajor, kMatrixB, is_transposed ? kTransposed : kNotTransposed, kAnyRows, n_, k_, 1,
                   b.data, static_cast<int>(b.stride), static_cast<float*>(values_.get()));
}

void PackedMatrix::multiply(float* out, std::int64_t out_stride, MatrixRows a, std::int64_t m,
                            Write write) const {
  if (has_tile_kernel()) {
    multiply_packed(out, out_stride, {a.data, a.stride, 1}, static_cast<const std::uint32_t*>(values_.get()),
                    m, n_, k_, write == Write::kAdd);
    return;
  }
  cblas_sgemm_compute(kRowMajor, kNotTransposed, kPacked, static_cast<int>(m), n_, k_, a.data,
                      static_cast<int>(a.stride), static_cast<const float*>(values_.get()), n_,
                      write == Write::kAdd ? 1.0F : 0.0F, out, static_cast<int>(out_stride));
}

}  // namespace che
