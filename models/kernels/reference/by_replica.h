#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace che {

// Whether replicas are computed one after another, each with the operations of a run alone. They are on a
// CPU, because a run's numbers must not depend on its neighbours: BLAS adds the products of a batch in
// another order than a single one (MKL on AMD processors, for one), and the last values of a tensor, those
// that fill no vector register, have other exponentials and logarithms than the rest.
inline bool separates_replicas(const at::Tensor& tensor) { return tensor.is_cpu(); }

// compute(inputs...), whose inputs and result have replicas first; an input with one replica serves all.
template <class Compute, class... Tensors>
at::Tensor by_replica(const Compute& compute, const Tensors&... inputs) {
  const std::int64_t replicas = std::max({inputs.size(0)...});
  if (replicas == 1 || !(separates_replicas(inputs) && ...)) return compute(inputs...);
  std::vector<at::Tensor> results;
  const auto parts = [](const at::Tensor& input) { return input.split(1); };
  const auto part = [](const std::vector<at::Tensor>& of_input, std::int64_t replica) {
    return of_input[of_input.size() == 1 ? 0 : static_cast<std::size_t>(replica)];
  };
  const auto compute_each = [&](const auto&... split) {
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      results.push_back(compute(part(split, replica)...));
    }
  };
  compute_each(parts(inputs)...);
  return at::cat(results);
}

// a b for each replica: at::matmul of a (replicas, ..., m, k) and b (replicas, ..., k, n).
inline at::Tensor replica_product(const at::Tensor& a, const at::Tensor& b) {
  return by_replica([](const at::Tensor& left, const at::Tensor& right) { return at::matmul(left, right); },
                    a, b);
}

// c + a b for each replica: at::baddbmm of c (replicas, m or 1, n or 1), a (replicas, m, k) and
// b (replicas, k, n).
inline at::Tensor add_replica_product(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b) {
  return by_replica([](const at::Tensor& sum, const at::Tensor& left,
                       const at::Tensor& right) { return at::baddbmm(sum, left, right); },
                    c, a, b);
}

// Writes a b + beta out to `out` for each replica; with the shapes above, out (replicas, m, n). Where beta is
// 0 out's values do not count.
inline void write_replica_product(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                                  double beta = 0) {
  const std::int64_t count = separates_replicas(out) ? 1 : out.size(0);
  for (std::int64_t first = 0; first < out.size(0); first += count) {
    const auto part = [&](const at::Tensor& whole) { return whole.narrow(0, first, count); };
    at::Tensor result = part(out);
    if (beta == 0) {
      at::bmm_out(result, part(a), part(b));
    } else {
      at::baddbmm_out(result, result, part(a), part(b), beta);
    }
  }
}

}  // namespace che
