#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

#include <cstdint>
#include <vector>

namespace che {

// The part of `values` (replicas or 1, ...) that replica r reads, (1, ...).
inline at::Tensor of_replica(const at::Tensor& values, std::int64_t r) {
  return values.size(0) == 1 ? values : values.narrow(0, r, 1);
}

// f(r), each (1, ...), of all replicas in one tensor. A batched product of small matrices may add in another
// order than the product of one of them, and the bits of a run must not depend on the runs next to it.
template <class F>
at::Tensor each_replica(std::int64_t replicas, const F& f) {
  if (replicas == 1) return f(0);
  std::vector<at::Tensor> results;
  for (std::int64_t r = 0; r < replicas; ++r) results.push_back(f(r));
  return at::cat(results);
}

}  // namespace che
