#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "models/ops/device/backend.h"

namespace che {

// A cell makes the hidden state h' from a = E[token] + (m, h) W, where m is what it reads from its memory,
// if it has one.
enum class Cell : std::uint8_t {
  kRnn,   // h' = ReLU(a)
  kLstm,  // a = (i, g, f, o); c' = sigmoid(f + 1) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c')
  kGru,   // a = (z, r, n), with r' h in place of h in n; h' = (1 - z') h + z' tanh(n); ' is the sigmoid
};

// Blocks of the hidden state's width in a: 1, 4, 3.
std::int64_t gates_of(Cell cell);

// y = x w + b, w (replicas, in, out), b (replicas, out).
struct Affine {
  at::Tensor w, b;
};

enum class MemoryKind : std::uint8_t { kStack, kTape };

// Returns the number of actions that a step chooses from: 3 for a stack, 5 for a tape.
std::int64_t actions_of(MemoryKind memory);

// A memory of vectors m_0, m_1, ... beside the cell, which reads m_0 before each step; all 0 at first. After
// a step, v is an MLP of h' with ReLU between its layers, and a is the softmax of `actions` of h'.
//
// A stack pushes v, pops or does nothing: m'_i = a_0 m_{i-1} + a_1 m_{i+1} + a_2 m_i, where m_{-1} is v and
// what lies beyond the last vector is 0. A tape first writes v to m_0; then it stays, moves left or right by
// one or left or right by `jump`, in a ring: m'_i = a_0 m_i + a_1 m_{i+1} + a_2 m_{i-1} + a_3 m_{i+jump} +
// a_4 m_{i-jump}.
struct Memory {
  MemoryKind kind;
  std::int64_t size;           // Vectors.
  std::int64_t jump;           // A tape's.
  Affine actions;              // To actions_of(kind) values.
  std::vector<Affine> writes;  // The layers of the MLP.
};

// A recurrent network: table (replicas, symbols, gates width) has E with the biases of a, weights (replicas,
// [memory's width +] width, gates width) has W. A GRU has no memory.
struct Recurrence {
  Cell cell;
  at::Tensor table;
  at::Tensor weights;
  std::optional<Memory> memory = {};

  std::int64_t width() const { return table.size(2) / gates_of(cell); }
};

// The hidden states at the last `outputs` tokens, (replicas, outputs, batch, width), from a state of 0 before
// the first of tokens (batch, tokens) of type long.
at::Tensor unroll(const at::Tensor& tokens, std::int64_t outputs, const Recurrence& network,
                  const Backend& backend);

namespace reference {

// The composition of LibTorch's operations.
at::Tensor unroll(const at::Tensor& tokens, std::int64_t outputs, const Recurrence& network,
                  const Backend& backend);

}  // namespace reference

}  // namespace che
