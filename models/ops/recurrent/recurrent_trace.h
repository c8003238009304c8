// The fused recurrent network, and the data that its two passes use.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/ops/product/packed_matrix.h"
#include "models/ops/product/product.h"
#include "models/ops/recurrent/recurrent.h"
#include "models/ops/recurrent/recurrent_kernels.h"

namespace che::unrolled {

// Holds values by step. If no backward pass follows, a few slots serve all steps in turn.
struct Steps {
  at::Tensor values;  // (replicas, slots, batch, features)

  float* row(std::int64_t replica, std::int64_t step, std::int64_t row) const {
    const std::int64_t slot = replica * values.size(1) + step % values.size(1);
    return values.data_ptr<float>() + (slot * values.size(2) + row) * values.size(3);
  }
  StridedRows rows(std::int64_t replica, std::int64_t step, std::int64_t first,
                   std::int64_t column = 0) const {
    return {row(replica, step, first) + column, values.size(3)};
  }
  // The features from `column` on at `count` steps from `first` on: (replicas, count batch, features).
  at::Tensor matrix(std::int64_t first, std::int64_t count, std::int64_t column = 0) const {
    return values.narrow(1, first, count).flatten(1, 2).slice(2, column);
  }
};

inline MatrixRows matrix(const StridedRows& rows) { return {rows.data, rows.stride}; }

// Returns matrix `replica` of contiguous (replicas, rows, columns), from a row and column on.
inline MatrixRows matrix(const at::Tensor& matrices, std::int64_t replica, std::int64_t row = 0,
                         std::int64_t column = 0) {
  const std::int64_t stride = matrices.size(2);
  return {matrices.const_data_ptr<float>() + (replica * matrices.size(1) + row) * stride + column, stride};
}

// Consecutive rows of one replica, which one thread computes.
struct Block {
  std::int64_t replica, first, rows;
};

// Fixed, so that no result depends on the number of threads; products of as many rows run at full speed.
inline constexpr std::int64_t kBlockRows = 64;

// Calls work(block) for all rows of all replicas.
template <class Work>
void for_each_block(std::int64_t replicas, std::int64_t batch, const Work& work) {
  const std::int64_t blocks = (batch + kBlockRows - 1) / kBlockRows;
  for_each_in_parallel(replicas * blocks, [&](std::int64_t item) {
    const std::int64_t first = item % blocks * kBlockRows;
    work(Block{item / blocks, first, std::min(kBlockRows, batch - first)});
  });
}

// Describes the network without its weights.
struct Plan {
  Cell cell;
  std::int64_t replicas, batch, tokens, outputs, symbols, width, gates;
  bool has_memory = false;
  MemoryKind kind = MemoryKind::kStack;
  std::int64_t memory_width = 0, size = 0, jump = 0, actions = 0;

  // One product makes the gates of these columns: all of them, or a GRU's z and r, then n.
  struct Columns {
    std::int64_t first, count;
  };
  std::vector<Columns> parts() const {
    if (cell == Cell::kGru) return {{0, 2 * width}, {2 * width, width}};
    return {{0, gates * width}};
  }

  std::int64_t state_width() const { return symbols + memory_width + width; }
  std::int64_t hidden_column() const { return symbols + memory_width; }
  std::int64_t used(std::int64_t step) const { return std::min(size, step); }
  // Nobody reads the memory after the last step.
  bool updates_memory(std::int64_t step) const { return has_memory && step + 1 < tokens; }
  bool is_output(std::int64_t step) const { return step >= tokens - outputs; }
};

// The writer's layers as products: the first also makes the actions, behind its own values.
inline constexpr std::size_t kMostLayers = 3;
struct Writer {
  std::vector<at::Tensor> w, b;

  std::int64_t values(std::size_t layer, const Plan& plan) const {
    return b[layer].size(1) - (layer == 0 ? plan.actions : 0);
  }
};

// Holds the values of a forward pass that the backward pass reads.
struct Trace {
  Plan plan;
  Steps state;                 // (x, m, h) before each step, and after the last
  Steps gates;                 // See CellRows.
  Steps cell;                  // An LSTM's c.
  Steps reset;                 // A GRU's (x, r h).
  std::vector<Steps> written;  // Has the output of each layer of the writer.
  Steps memory;

  Trace(const Plan& of, const Writer& writer, const at::TensorOptions& options, bool keeps) : plan(of) {
    const auto steps = [&](std::int64_t kept, std::int64_t least, std::int64_t features) {
      return Steps{at::empty({plan.replicas, keeps ? kept : least, plan.batch, features}, options)};
    };
    const std::int64_t tokens = plan.tokens;
    state = steps(tokens + 1, 2, plan.state_width());
    gates = steps(tokens, 1, plan.gates * plan.width);
    if (plan.cell == Cell::kLstm) cell = steps(tokens + 1, 2, plan.width);
    if (plan.cell == Cell::kGru) reset = steps(tokens, 1, plan.state_width());
    if (!plan.has_memory) return;
    memory = steps(tokens, 2, (plan.size + 1) * plan.memory_width);
    for (const at::Tensor& b : writer.b) written.push_back(steps(tokens, 1, b.size(1)));
  }

  CellStep cell_step(std::int64_t step, const Block& block) const {
    const auto rows = [&](const Steps& steps, std::int64_t at, std::int64_t column = 0) {
      return steps.rows(block.replica, at, block.first, column);
    };
    CellStep result{.rows = block.rows,
                    .width = plan.width,
                    .gates = rows(gates, step).data,
                    .previous = rows(state, step, plan.hidden_column()),
                    .hidden = rows(state, step + 1, plan.hidden_column())};
    if (plan.cell == Cell::kLstm) {
      result.cell = rows(cell, step).data;
      result.next_cell = rows(cell, step + 1).data;
    }
    if (plan.cell == Cell::kGru) result.reset = rows(reset, step, plan.symbols);
    return result;
  }

  MemoryStep memory_step(std::int64_t step, const Block& block) const {
    const std::int64_t actions = written[0].values.size(3) - plan.actions;
    return {.rows = block.rows,
            .size = plan.size,
            .width = plan.memory_width,
            .jump = plan.jump,
            .used = plan.used(step),
            .memory = memory.row(block.replica, step, block.first),
            .written = written.back().rows(block.replica, step, block.first),
            .actions = written[0].rows(block.replica, step, block.first, actions)};
  }
};

// The weights of each replica, by part.
using PackedWeights = std::vector<std::vector<PackedMatrix>>;

struct BackwardOperands {
  const Trace& trace;
  const Writer& writer;
  PackedWeights transposed;                   // Each (the part's width, memory's width + width)
  std::vector<at::Tensor> writer_transposed;  // The writer's weights.
  std::vector<Steps> d_written;               // To write to: gradients of what the writer's layers give.
};

// Leaves the gradients of a in trace.gates and those of the writer's layers in `d_written`, for one block.
// d_out (replicas, outputs, batch, width).
void run_backward(const BackwardOperands& operands, const Block& block, const float* d_out);

}  // namespace che::unrolled

namespace che {

// Whether unroll() has a fused form for this network: single precision on a CPU, at most three layers in the
// memory's MLP.
bool unrolls_fused(const Recurrence& network, const Backend& backend);
at::Tensor unroll_fused(const at::Tensor& tokens, std::int64_t outputs, const Recurrence& network);

}  // namespace che
