#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace che {

// The type of a product's operands; its sums are of single precision in either.
enum class Operands : std::uint8_t { kFp32, kBf16 };

// x, or where `operands` asks for it and x has single precision, x rounded to the nearest bf16, ties to even.
// Rounded once, it serves several calls of write_product(). Has no gradients.
at::Tensor as_operand(const at::Tensor& x, Operands operands);

// Returns a b for each matrix of a batch, a (replicas, ..., m, k) and b (replicas, ..., k, n). Both have as
// many dimensions, of which those before the last two may be 1 in one of them. Has gradients, whose products
// have operands of the same type.
//
// On a CPU every matrix is cut into tiles, by its shape alone, and one thread computes a tile with one call
// of the BLAS. So neither the number of threads nor other matrices of the batch change a bit of it.
at::Tensor product(const at::Tensor& a, const at::Tensor& b, Operands operands = Operands::kFp32);

// a b for each b: a is rounded and kept once, and its gradient is added up where it is.
std::vector<at::Tensor> products(const at::Tensor& a, at::TensorList bs, Operands operands = Operands::kFp32);

// x (replicas, ..., in) times w (replicas, in, out), plus b (replicas, out) where given. Has gradients.
at::Tensor affine(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b = {},
                  Operands operands = Operands::kFp32);

// Computes affine() for several w and as many b, or none; see products().
std::vector<at::Tensor> affine_each(const at::Tensor& x, at::TensorList ws, at::TensorList bs,
                                    Operands operands);

// affine() for features in front, without a transpose: x (replicas or 1, in, columns) and w (replicas, in,
// out) give (replicas, out, columns), plus b (replicas, out).
at::Tensor affine_in_front(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b);

// Writes a b to `out` (replicas, m, n), whose matrices are each without gaps, or adds it. The operands are a
// (replicas, m, k) and b (replicas, k, n), both of the type of `out`, or both bf16 and `out` of single
// precision. Has no gradients.
enum class Write : bool { kReplace, kAdd };
void write_product(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, Write write);

// The rows of a matrix of single precision, `stride` elements apart.
struct MatrixRows {
  const float* data;
  std::int64_t stride;
};

// Writes a b to `out` (m, n), or adds it; a (m, k), b (k, n). The calling thread computes it with one call of
// the BLAS. For a CPU.
void multiply_here(float* out, std::int64_t out_stride, MatrixRows a, MatrixRows b, std::int64_t m,
                   std::int64_t n, std::int64_t k, Write write);

// Calls work(item) for 0 <= item < items on the threads on which product() computes tiles.
void for_each_in_parallel(std::int64_t items, const std::function<void(std::int64_t item)>& work);

}  // namespace che
