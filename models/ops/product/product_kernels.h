#pragma once

#include <cstdint>

namespace che {

// The bits of a bf16 number.
enum class Bf16 : std::uint16_t {};

// A matrix in memory, one of whose strides is 1, in elements.
template <class Number>
struct StridedMatrix {
  const Number* data;
  std::int64_t row_stride, column_stride;
};

// Whether multiply_tile() is used here: on processors with AVX512_BF16 that are not Intel's. MKL uses AVX2 on
// those. On a Zen 5, the one that was measured, this is half of the rate in fp32 and a quarter in bf16.
bool has_tile_kernel();

// Writes a b to `out` (m, n), rows of contiguous elements, or adds it if `add`; a (m, k), b (k, n), float or
// Bf16. A sum takes its terms in the order of k, in parts of a fixed size. So no bit of an element depends on
// m, n, strides, or where the operands are. In bf16 the processor takes numbers below 2^-126 for 0. The
// calling thread computes it. Costs the products, and of each operand a read a tile and its packing.
template <class Number>
void multiply_tile(float* out, std::int64_t out_stride, StridedMatrix<Number> a, StridedMatrix<Number> b,
                   std::int64_t m, std::int64_t n, std::int64_t k, bool add);

// These serve many a with one b. pack_matrix() writes b to packed_units() units, aligned to 64 bytes, and
// multiply_packed() gives the bits of multiply_tile().
std::int64_t packed_units(std::int64_t n, std::int64_t k);
void pack_matrix(std::uint32_t* packed, StridedMatrix<float> b, std::int64_t n, std::int64_t k);
void multiply_packed(float* out, std::int64_t out_stride, StridedMatrix<float> a, const std::uint32_t* packed,
                     std::int64_t m, std::int64_t n, std::int64_t k, bool add);

}  // namespace che
