#pragma once

#include <cstdint>

namespace che {

// The work of a recurrent network between its products, which are a library's: one step of some rows of a
// batch, in single precision on a CPU. Rows follow each other without gaps unless they have a stride.

// Points to rows of a larger matrix.
struct StridedRows {
  float* data;
  std::int64_t stride;

  float* row(std::int64_t r) const { return data + r * stride; }
};

// A step of a cell; see unroll() for a and the formulas.
struct CellStep {
  std::int64_t rows, width;
  float* gates;                 // (rows, gates width): a, in place of which stands what the gradient reads.
  StridedRows previous;         // (rows, width): a GRU's h.
  StridedRows hidden;           // (rows, width): h'
  const float* cell = nullptr;  // (rows, width): an LSTM's c
  float* next_cell = nullptr;   // (rows, width): an LSTM's c'
  StridedRows reset = {};       // (rows, width): a GRU's r' h
};

// Gradients of that step, whose a is replaced by its gradient. d_hidden becomes that of h where the cell
// passes it on past a, which only a GRU does.
struct CellGradient {
  StridedRows d_hidden;
  float* d_cell;         // (rows, width): the gradient of c' becomes that of c.
  const float* d_reset;  // (rows, width): the gradient of a GRU's r' h, for the second part.
};

// A step of a memory of `size` vectors of `width`. Behind each row of vectors there is room for another one.
struct MemoryStep {
  std::int64_t rows, size, width;
  std::int64_t jump;    // A tape's, below the size.
  std::int64_t used;    // So many vectors of a stack may differ from 0 before the step.
  const float* memory;  // (rows, size + 1, width)
  StridedRows written;  // (rows, width)
  StridedRows actions;  // (rows, actions): logits, which become their softmax.
};

struct MemoryResult {
  float* next;      // (rows, size + 1, width)
  StridedRows top;  // (rows, width): the next memory's first vector once more.
};

// Gradients of that step, whose actions are the softmax.
struct MemoryGradient {
  const float* d_next;
  float* d_memory;
  StridedRows d_written, d_actions;  // d_actions is that of the logits.
};

struct RecurrentKernels {
  void (*rnn)(const CellStep&);
  void (*rnn_gradient)(const CellStep&, const CellGradient&);
  void (*lstm)(const CellStep&);
  void (*lstm_gradient)(const CellStep&, const CellGradient&);
  // A GRU has two products a step: z and r come before the second, h' after it.
  void (*gru_reset)(const CellStep&);
  void (*gru)(const CellStep&);
  void (*gru_gradient)(const CellStep&, const CellGradient&);        // Computes those of z and n.
  void (*gru_reset_gradient)(const CellStep&, const CellGradient&);  // Computes that of r.
  void (*stack)(const MemoryStep&, const MemoryResult&);
  void (*stack_gradient)(const MemoryStep&, const MemoryGradient&);
  void (*tape)(const MemoryStep&, const MemoryResult&);
  void (*tape_gradient)(const MemoryStep&, const MemoryGradient&);
};

namespace cpu {
const RecurrentKernels& recurrent_kernels();
}

}  // namespace che
