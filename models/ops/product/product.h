#pragma once

#include <ATen/core/Tensor.h>

namespace che {

// a b for each matrix of a batch: a (replicas, ..., m, k) and b (replicas, ..., k, n), with as many
// dimensions, of which those before the last two may be 1 in one of them. Has gradients.
//
// On a CPU every matrix is cut into tiles, by its shape alone, and one thread computes a tile with one call
// of the BLAS. So neither the number of threads nor other matrices of the batch change a bit of it.
at::Tensor product(const at::Tensor& a, const at::Tensor& b);

// Writes a b to `out` (replicas, m, n), whose matrices are each without gaps, or adds it; a (replicas, m, k),
// b (replicas, k, n). Has no gradients.
enum class Write : bool { kReplace, kAdd };
void write_product(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, Write write);

}  // namespace che
