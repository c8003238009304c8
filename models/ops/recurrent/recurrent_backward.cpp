#include <utility>
#include <vector>

#include "models/ops/recurrent/recurrent_trace.h"

namespace che::unrolled {
namespace {

// See run_backward.
class Backward {
 public:
  Backward(const BackwardOperands& operands, const Block& block)
      : operands_(operands),
        trace_(operands.trace),
        plan_(trace_.plan),
        writer_(operands.writer),
        block_(block),
        d_state_(values(plan_.memory_width + plan_.width)),
        d_cell_(values(plan_.cell == Cell::kLstm ? plan_.width : 0)),
        d_reset_(values(plan_.cell == Cell::kGru ? plan_.width : 0)),
        d_memory_(values((plan_.size + 1) * plan_.memory_width)),
        d_next_memory_(d_memory_) {}

  // d_out (replicas, outputs, batch, width)
  void run(const float* d_out) {
    for (std::int64_t step = plan_.tokens - 1; step >= 0; --step) {
      if (plan_.updates_memory(step)) memory_gradient(step);
      if (plan_.is_output(step)) {
        const std::int64_t output = step - (plan_.tokens - plan_.outputs);
        const std::int64_t row = (block_.replica * plan_.outputs + output) * plan_.batch + block_.first;
        add_rows(d_hidden(), d_out + row * plan_.width, plan_.width, plan_.width);
      }
      cell_gradient(step);
      if (plan_.has_memory && step > 0) {
        // m is the memory's first vector.
        const StridedRows first{d_memory_.data(), (plan_.size + 1) * plan_.memory_width};
        add_rows(first, d_state_.data(), plan_.memory_width + plan_.width, plan_.memory_width);
      }
    }
  }

 private:
  std::vector<float> values(std::int64_t a_row) const {
    return std::vector<float>(static_cast<std::size_t>(block_.rows * a_row));
  }
  StridedRows rows(const Steps& steps, std::int64_t step, std::int64_t column = 0) const {
    return steps.rows(block_.replica, step, block_.first, column);
  }
  StridedRows d_hidden() { return {d_state_.data() + plan_.memory_width, plan_.memory_width + plan_.width}; }

  void add_rows(const StridedRows& sums, const float* added, std::int64_t stride, std::int64_t width) const {
    for (std::int64_t r = 0; r < block_.rows; ++r) {
      for (std::int64_t i = 0; i < width; ++i) sums.row(r)[i] += added[r * stride + i];
    }
  }

  void memory_gradient(std::int64_t step) {
    std::swap(d_memory_, d_next_memory_);
    const std::size_t last = writer_.w.size() - 1;
    const std::vector<Steps>& d_written = operands_.d_written;
    const MemoryGradient gradient{.d_next = d_next_memory_.data(),
                                  .d_memory = d_memory_.data(),
                                  .d_written = rows(d_written[last], step),
                                  .d_actions = rows(d_written[0], step, writer_.values(0, plan_))};
    const RecurrentKernels& kernels = cpu::recurrent_kernels();
    (plan_.kind == MemoryKind::kStack ? kernels.stack_gradient : kernels.tape_gradient)(
        trace_.memory_step(step, block_), gradient);
    for (std::size_t layer = last; layer > 0; --layer) {
      const StridedRows d_out = rows(d_written[layer], step), d_in = rows(d_written[layer - 1], step);
      const StridedRows in = rows(trace_.written[layer - 1], step);
      const std::int64_t width = writer_.values(layer - 1, plan_);
      multiply_here(d_in.data, d_in.stride, matrix(d_out),
                    matrix(operands_.writer_transposed[layer], block_.replica), block_.rows, width,
                    writer_.b[layer].size(1), Write::kReplace);
      for (std::int64_t r = 0; r < block_.rows; ++r) {
        for (std::int64_t i = 0; i < width; ++i) d_in.row(r)[i] = in.row(r)[i] > 0 ? d_in.row(r)[i] : 0;
      }
    }
    multiply_here(d_hidden().data, d_hidden().stride, matrix(rows(d_written[0], step)),
                  matrix(operands_.writer_transposed[0], block_.replica), block_.rows, plan_.width,
                  writer_.b[0].size(1), Write::kAdd);
  }

  void cell_gradient(std::int64_t step) {
    const RecurrentKernels& kernels = cpu::recurrent_kernels();
    const CellStep cell = trace_.cell_step(step, block_);
    const MatrixRows gates = matrix(rows(trace_.gates, step));
    const std::vector<PackedMatrix>& weights = operands_.transposed[static_cast<std::size_t>(block_.replica)];
    const CellGradient gradient{.d_hidden = d_hidden(), .d_cell = d_cell_.data(), .d_reset = d_reset_.data()};
    if (plan_.cell == Cell::kGru) {
      const std::int64_t width = plan_.width;
      kernels.gru_gradient(cell, gradient);
      weights[1].multiply(d_reset_.data(), width, {gates.data + 2 * width, gates.stride}, block_.rows,
                          Write::kReplace);
      kernels.gru_reset_gradient(cell, gradient);
      weights[0].multiply(d_hidden().data, d_hidden().stride, gates, block_.rows, Write::kAdd);
      return;
    }
    (plan_.cell == Cell::kLstm ? kernels.lstm_gradient : kernels.rnn_gradient)(cell, gradient);
    // The state before the first step has no gradient.
    if (step == 0) return;
    weights[0].multiply(d_state_.data(), plan_.memory_width + plan_.width, gates, block_.rows,
                        Write::kReplace);
  }

  const BackwardOperands& operands_;
  const Trace& trace_;
  const Plan& plan_;
  const Writer& writer_;
  Block block_;
  std::vector<float> d_state_;  // (rows, memory's width + width): of m and h
  std::vector<float> d_cell_, d_reset_;
  std::vector<float> d_memory_, d_next_memory_;  // These belong to the memory before the step and after it.
};

}  // namespace

void run_backward(const BackwardOperands& operands, const Block& block, const float* d_out) {
  Backward(operands, block).run(d_out);
}

}  // namespace che::unrolled
