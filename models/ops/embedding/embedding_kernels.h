#pragma once

#include <cstdint>

#include "models/ops/device/kernel_call.h"

namespace che {

// The inputs of Embedding::rows() of embedding.h.
struct EmbeddingInputs {
  std::int64_t replicas;
  std::int64_t batch;
  std::int64_t tokens;   // Tokens of an example that are read.
  std::int64_t symbols;  // Rows of a replica's table.
  std::int64_t width;
  const std::int64_t* ids;  // (batch, tokens), 0 <= id < symbols; those of an example follow without gaps.
  std::int64_t id_stride;   // From example to example.
};

// CPUs have none: there the composition is as fast, and stored results have its bits.
struct EmbeddingKernels {
  // Whether the functions below take so many replicas and symbols; null where a device has none.
  bool (*serves)(std::int64_t replicas, std::int64_t symbols) = nullptr;

  // Writes out, (replicas, batch, tokens, width): for each token the row of its symbol in table, (replicas,
  // symbols, width).
  int (*forward)(const KernelCall& call, const EmbeddingInputs& in, const float* table, float* out) = nullptr;

  // Writes d_table: for each symbol the sum of its tokens' rows of d_out.
  int (*backward)(const KernelCall& call, const EmbeddingInputs& in, const float* d_out,
                  float* d_table) = nullptr;
};

namespace gpu {
EmbeddingKernels embedding_kernels();
}

}  // namespace che
