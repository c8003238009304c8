#pragma once

#include <cstdint>

#include "models/ops/device/kernel_call.h"

namespace che {

struct AttentionShape {
  std::int64_t replicas;
  std::int64_t batch;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t heads;
  std::int64_t head_width;
  std::int64_t hidden = 0;  // The width of f's hidden layer; 0 without f.
  bool causal = false;      // Query i, which is token keys - queries + i, sees no later key.
  bool has_sums = false;    // Whether the bias is that of running sums, PairValues::sums.
};

// The inputs of attention() of attention.h, with f's first layer split by its inputs: the hidden layer is
// LeakyReLU_0.01(w1 A + hidden_bias).
struct AttentionInputs {
  AttentionShape shape;
  ExampleView<const float> q;                 // (queries, heads, head_width) per example
  ExampleView<const float> k;                 // (keys, heads, head_width)
  ExampleView<const float> v;                 // likewise
  PairView<const float> bias;                 // Added to the logits, by head.
  ExampleView<const float> sums;              // (sides, heads, keys); added by their differences, too.
  const float* w1 = nullptr;                  // (replicas, heads, hidden)
  const float* w2 = nullptr;                  // (replicas, hidden, heads)
  const float* b2 = nullptr;                  // (replicas, heads)
  PairView<const float> hidden_bias;          // By hidden feature.
  ExampleView<const float> hidden_sums = {};  // (sides, keys, hidden); added to it by their differences.
};

// Where gradients are written; contiguous and shaped like the inputs. Gradients of pairs have the layout of
// their input, with a part for each replica even where replicas share it.
struct AttentionGradients {
  ExampleView<float> d_q;
  ExampleView<float> d_k;
  ExampleView<float> d_v;
  PairView<float> d_bias;     // data is null where none is wanted.
  ExampleView<float> d_sums;  // data is null without sums.
  float* d_w1 = nullptr;      // Null without f, as are the following.
  float* d_w2 = nullptr;
  float* d_b2 = nullptr;
  PairView<float> d_hidden_bias;
  ExampleView<float> d_hidden_sums = {};
};

struct AttentionKernels {
  // Whether the functions below take the shape, and with `has_gradients` backward() too.
  bool (*serves)(const AttentionShape& shape, bool has_gradients);

  // A pass without gradients takes so many queries at once where a bias is given by pair, so that memory
  // holds f's hidden bias for so many queries only.
  std::int64_t query_block;

  // Floats that forward() keeps for backward().
  std::int64_t (*saved_values)(const AttentionShape& shape);

  // Writes out, shaped like q, and where `saved` is not null, the values for backward().
  int (*forward)(const KernelCall& call, const AttentionInputs& in, const ExampleView<float>& out,
                 float* saved);

  // Reads the values that forward() kept and the gradient of its result.
  int (*backward)(const KernelCall& call, const AttentionInputs& in, const float* saved,
                  const ExampleView<const float>& d_out, const AttentionGradients& out);
};

namespace gpu {
AttentionKernels attention_kernels();
}
namespace cpu {
AttentionKernels attention_kernels();
}

}  // namespace che
