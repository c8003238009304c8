// The views of models/kernels/forms/views.h as kernels read them.
#pragma once

#include "models/kernels/cuda/gpu.h"
#include "models/kernels/forms/views.h"

namespace che::gpu {

template <class Value>
__device__ __forceinline__ Value* example_of(const ExampleView<Value>& view, std::int64_t replica,
                                             std::int64_t example) {
  return view.data + replica * view.replica_stride + example * view.example_stride;
}

// Where a pair's value stands in its row.
__device__ __forceinline__ std::int64_t pair_index(bool by_offset, int queries, int keys, int query,
                                                   int key) {
  return by_offset ? key - query + queries - 1 : std::int64_t{query} * keys + key;
}

// Pairs of a row.
inline std::int64_t pairs_of_row(bool by_offset, std::int64_t queries, std::int64_t keys) {
  return by_offset ? 2 * keys - 1 : queries * keys;
}

__device__ __forceinline__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ __forceinline__ void store4(float* p, const float4& value) {
  *reinterpret_cast<float4*>(p) = value;
}

}  // namespace che::gpu
