#pragma once

#include <cstdint>

namespace che {

// Queries that attention handles at once: the lanes of the widest vectors. Buffers that hold a value
// a query are padded to a multiple of it.
constexpr std::int64_t kQueryTile = 16;

constexpr std::int64_t padded_queries(std::int64_t queries) {
  return (queries + kQueryTile - 1) / kQueryTile * kQueryTile;
}

// Value of row, key and query at data[row * row_stride + key * key_stride + query]. Readable up to the
// padded number of queries. By offset, rows overlap: key_stride is -1.
template <class Value>
struct PairTable {
  Value* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t key_stride = 0;

  Value* at(std::int64_t row, std::int64_t key, std::int64_t query) const {
    return data + row * row_stride + key * key_stride + query;
  }
};

// f of attention.h for one replica.
struct PairMlpWeights {
  std::int64_t hidden;
  std::int64_t heads;                  // Padded: 2, 4, 8 or 16.
  const float* weights;                // (hidden, {w1, w2}, heads), zeros where padded
  const float* b2;                     // (heads), likewise
  PairTable<const float> hidden_bias;  // By hidden feature: w1_bias B + b1
};

// Attention of one example, all heads. Rows of q, k, v and their like are heads * head_width long.
struct AttentionExample {
  std::int64_t heads;
  std::int64_t head_width;
  std::int64_t queries;
  std::int64_t keys;
  const float* q;  // (queries, heads, head_width)
  const float* k;  // (keys, heads, head_width)
  const float* v;
  PairTable<const float> bias;         // By head; data is null for none.
  const float* sums = nullptr;         // (sides, heads, keys), null for none.
  const float* hidden_sums = nullptr;  // (sides, keys, hidden), likewise, and added to the hidden bias
  const PairMlpWeights* mlp = nullptr;
  bool causal = false;  // A query sees no key after its own token.

  std::int64_t row() const { return heads * head_width; }
  std::int64_t sums_count(std::int64_t rows) const { return (causal ? 1 : 2) * rows * keys; }

  // The keys that some of the queries first .. first + count - 1 see, the first ones. Others take no part in
  // anything; where a query of them sees fewer, its weights behind the last one are zero.
  std::int64_t keys_of(std::int64_t first, std::int64_t count) const {
    const std::int64_t end = keys - queries + first + count;
    return causal && end < keys ? end : keys;
  }
};

// Writes out (queries, heads, head_width) for the queries first .. first + kQueryTile - 1, as far as there
// are such. Writes their attention weights into (heads, keys, stride), of which the tile's first column is
// `weights`. The weights of keys that no query of the tile sees are not written.
void attention_forward_tile(const AttentionExample& in, std::int64_t first, float* weights,
                            std::int64_t stride, float* out);

// Where the gradients of one example go. Those of q, k and v are written, the others, which examples
// share, added to.
struct ExampleGradients {
  float* d_q;
  float* d_k;
  float* d_v;
  PairTable<float> d_bias;  // data is null where none is wanted.
  float* d_sums = nullptr;  // Like the sums, and written.
  float* d_hidden_sums = nullptr;
  // With an MLP; sums are over the last axis too, whose use depends on the instruction set.
  float* d_weights = nullptr;  // (hidden, {w1, w2}, heads padded, kQueryTile)
  float* d_b2 = nullptr;       // (heads padded, kQueryTile)
  PairTable<float> d_hidden_bias;
};

// weights: what the forward pass wrote, (heads, keys, padded_queries(queries)); d_out like out.
void attention_example_gradients(const AttentionExample& in, const float* weights, const float* d_out,
                                 const ExampleGradients& out);

}  // namespace che
