#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace che {

// Returns compute(inputs...). The inputs and the result have replicas first, and an input with one replica
// serves all. On a CPU the replicas are computed one after another, because a run's numbers must not depend
// on its neighbours. LibTorch computes the last values of a tensor, those that fill no vector register, with
// other exponentials and logarithms than the rest.
template <class Compute, class... Tensors>
at::Tensor by_replica(const Compute& compute, const Tensors&... inputs) {
  const std::int64_t replicas = std::max({inputs.size(0)...});
  if (replicas == 1 || !(inputs.is_cpu() && ...)) return compute(inputs...);
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

// Returns x times `factor`, both with replicas first. The factor's gradient sums in one order for any number
// of replicas.
inline at::Tensor multiplied(const at::Tensor& x, const at::Tensor& factor) {
  return by_replica([](const at::Tensor& a, const at::Tensor& b) { return a * b; }, x, factor);
}

}  // namespace che
