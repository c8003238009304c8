#pragma once

#include <cstdint>

namespace che {

// What Embedding::rows() of models/kernels/embedding.h reads.
struct EmbeddingInputs {
  std::int64_t replicas;
  std::int64_t batch;
  std::int64_t tokens;   // Of an example that are read.
  std::int64_t symbols;  // Rows of a replica's table.
  std::int64_t width;
  const std::int64_t*
      ids;  // Of symbols, 0 <= id < symbols: (batch, tokens), those of an example without gaps.
  std::int64_t id_stride;  // From example to example.
};

// CPUs have none: there the composition is as fast, and stored results have its bits.
struct EmbeddingForm {
  // Whether the functions below take so many replicas and symbols; null where a device has none.
  bool (*serves)(std::int64_t replicas, std::int64_t symbols) = nullptr;

  // Writes out, (replicas, batch, tokens, width): for each token the row of its symbol in table, (replicas,
  // symbols, width).
  void (*forward)(const EmbeddingInputs& in, const float* table, float* out) = nullptr;

  // Writes d_table: for each symbol the sum of its tokens' rows of d_out.
  void (*backward)(const EmbeddingInputs& in, const float* d_out, float* d_table) = nullptr;
};

}  // namespace che
