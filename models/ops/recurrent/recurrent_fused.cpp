// A recurrent network on a CPU in single precision. A step of some rows of the batch is one product of
// (x, m, h), x the symbol's one-hot vector, with the weights, the cell, and the memory; rows do not meet
// until the gradients of the weights, which are one product over all steps. Forward and backward cost 6
// (symbols + memory's width + width) gates width operations a token, and a token keeps (1 + gates) width
// values (an LSTM's one more width) beside its memory.
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "models/ops/product/product.h"
#include "models/ops/recurrent/recurrent.h"
#include "models/ops/recurrent/recurrent_trace.h"

namespace che {
namespace unrolled {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Runs the forward pass of one block.
class Forward {
 public:
  Forward(const Trace& trace, const std::vector<PackedMatrix>& weights, const Writer& writer,
          const std::int64_t* tokens, const Block& block)
      : trace_(trace),
        plan_(trace.plan),
        weights_(weights),
        writer_(writer),
        tokens_(tokens),
        block_(block) {}

  // Copies hidden states to `out` (replicas, outputs, batch, width).
  void run(float* out) const {
    const auto clear = [&](const Steps& steps) {
      std::memset(rows(steps, 0).data, 0, bytes(block_.rows * steps.values.size(3)));
    };
    clear(trace_.state);
    if (plan_.cell == Cell::kLstm) clear(trace_.cell);
    if (plan_.has_memory) clear(trace_.memory);
    for (std::int64_t step = 0; step < plan_.tokens; ++step) {
      write_symbols(trace_.state, step);
      run_cell(step);
      if (plan_.is_output(step)) {
        const std::int64_t output = step - (plan_.tokens - plan_.outputs);
        const StridedRows hidden = rows(trace_.state, step + 1, plan_.hidden_column());
        for (std::int64_t r = 0; r < block_.rows; ++r) {
          const std::int64_t row = (block_.replica * plan_.outputs + output) * plan_.batch + block_.first + r;
          std::memcpy(out + row * plan_.width, hidden.row(r), bytes(plan_.width));
        }
      }
      if (plan_.updates_memory(step)) run_memory(step);
    }
  }

 private:
  static std::size_t bytes(std::int64_t values) { return static_cast<std::size_t>(values) * sizeof(float); }

  StridedRows rows(const Steps& steps, std::int64_t step, std::int64_t column = 0) const {
    return steps.rows(block_.replica, step, block_.first, column);
  }

  void write_symbols(const Steps& steps, std::int64_t step) const {
    const StridedRows x = rows(steps, step);
    for (std::int64_t r = 0; r < block_.rows; ++r) {
      std::memset(x.row(r), 0, bytes(plan_.symbols));
      x.row(r)[tokens_[(block_.first + r) * plan_.tokens + step]] = 1;
    }
  }

  // Computes a part of a.
  void multiply(const StridedRows& gates, const StridedRows& state, std::size_t part) const {
    weights_[part].multiply(gates.data + plan_.parts()[part].first, gates.stride, matrix(state), block_.rows,
                            Write::kReplace);
  }

  void run_cell(std::int64_t step) const {
    const RecurrentKernels& kernels = cpu::recurrent_kernels();
    const StridedRows gates = rows(trace_.gates, step), state = rows(trace_.state, step);
    const CellStep cell = trace_.cell_step(step, block_);
    if (plan_.cell == Cell::kGru) {
      multiply(gates, state, 0);
      write_symbols(trace_.reset, step);
      kernels.gru_reset(cell);
      multiply(gates, rows(trace_.reset, step), 1);
      kernels.gru(cell);
      return;
    }
    multiply(gates, state, 0);
    (plan_.cell == Cell::kLstm ? kernels.lstm : kernels.rnn)(cell);
  }

  void run_memory(std::int64_t step) const {
    StridedRows in = rows(trace_.state, step + 1, plan_.hidden_column());
    std::int64_t in_width = plan_.width;
    for (std::size_t layer = 0; layer < writer_.w.size(); ++layer) {
      const StridedRows out = rows(trace_.written[layer], step);
      const std::int64_t columns = writer_.b[layer].size(1), values = writer_.values(layer, plan_);
      multiply_here(out.data, out.stride, matrix(in), matrix(writer_.w[layer], block_.replica), block_.rows,
                    columns, in_width, Write::kReplace);
      const float* const b = writer_.b[layer].const_data_ptr<float>() + block_.replica * columns;
      const bool is_last = layer + 1 == writer_.w.size();
      for (std::int64_t r = 0; r < block_.rows; ++r) {
        float* const y = out.row(r);
        for (std::int64_t i = 0; i < columns; ++i) y[i] += b[i];
        // A NaN stays one.
        for (std::int64_t i = 0; !is_last && i < values; ++i) y[i] = y[i] < 0 ? 0 : y[i];
      }
      in = out;
      in_width = values;
    }
    const MemoryResult result{.next = rows(trace_.memory, step + 1).data,
                              .top = rows(trace_.state, step + 1, plan_.symbols)};
    const RecurrentKernels& kernels = cpu::recurrent_kernels();
    (plan_.kind == MemoryKind::kStack ? kernels.stack : kernels.tape)(trace_.memory_step(step, block_),
                                                                      result);
  }

  const Trace& trace_;
  const Plan& plan_;
  const std::vector<PackedMatrix>& weights_;  // Each (state's width, the part's width)
  const Writer& writer_;
  const std::int64_t* tokens_;
  Block block_;
};

// `weights` (replicas, state's width, gates width) from a row on.
PackedWeights pack(const at::Tensor& weights, const Plan& plan, std::int64_t first_row, bool is_transposed) {
  const std::int64_t rows = weights.size(1) - first_row;
  PackedWeights packed(static_cast<std::size_t>(plan.replicas));
  for_each_in_parallel(plan.replicas, [&](std::int64_t replica) {
    for (const auto& [first, count] : plan.parts()) {
      packed[static_cast<std::size_t>(replica)].emplace_back(matrix(weights, replica, first_row, first),
                                                             is_transposed ? rows : count,
                                                             is_transposed ? count : rows, is_transposed);
    }
  });
  return packed;
}

at::Tensor transposed(const at::Tensor& matrices) { return matrices.transpose(1, 2).contiguous(); }

// a^T b, a (replicas, rows, m), b (replicas, rows, n); 0 without rows.
at::Tensor sum_of_outer_products(const at::Tensor& a, const at::Tensor& b) {
  if (a.size(1) == 0) return at::zeros({a.size(0), a.size(2), b.size(2)}, a.options());
  return product(a.transpose(1, 2), b);
}

class Unroll : public torch::autograd::Function<Unroll> {
 public:
  using Layer = std::optional<at::Tensor>;

  // The tensors behind `weights` are the writer's layers, which are absent where there is none.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weights, const Layer& w0,
                            const Layer& b0, const Layer& w1, const Layer& b1, const Layer& w2,
                            const Layer& b2, const at::Tensor& tokens, const Plan& plan, bool keeps) {
    RECORD_FUNCTION("che::unroll", {});
    const Writer writer =
        writer_of({w0.value_or(at::Tensor()), w1.value_or(at::Tensor()), w2.value_or(at::Tensor())},
                  {b0.value_or(at::Tensor()), b1.value_or(at::Tensor()), b2.value_or(at::Tensor())});
    Trace trace(plan, writer, weights.options(), keeps);
    const at::Tensor out =
        at::empty({plan.replicas, plan.outputs, plan.batch, plan.width}, weights.options());
    const PackedWeights packed = pack(weights, plan, 0, false);
    for_each_block(plan.replicas, plan.batch, [&](const Block& block) {
      Forward(trace, packed[static_cast<std::size_t>(block.replica)], writer,
              tokens.const_data_ptr<std::int64_t>(), block)
          .run(out.data_ptr<float>());
    });
    if (keeps) {
      variable_list saved{weights};
      for (const Layer* layer : {&w0, &b0, &w1, &b1, &w2, &b2})
        saved.push_back(layer->value_or(at::Tensor()));
      context->save_for_backward(saved);
      keep(context, std::move(trace));
    }
    return out;
  }

  // Can be called once: gradients take the place of what forward kept.
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    RECORD_FUNCTION("che::unroll", {});
    const variable_list saved = context->get_saved_variables();
    const auto& trace = kept<Trace>(context);
    const Plan& plan = trace.plan;
    const Writer writer = writer_of({saved[1], saved[3], saved[5]}, {saved[2], saved[4], saved[6]});
    BackwardOperands operands{trace, writer, pack(saved[0], plan, plan.symbols, true), {}, {}};
    for (std::size_t layer = 0; layer < writer.w.size(); ++layer) {
      operands.writer_transposed.push_back(transposed(writer.w[layer]));
      operands.d_written.push_back({at::empty_like(trace.written[layer].values)});
    }
    const at::Tensor d_out = gradients[0].contiguous();
    for_each_block(plan.replicas, plan.batch,
                   [&](const Block& block) { run_backward(operands, block, d_out.const_data_ptr<float>()); });

    variable_list result(kArguments);
    result[0] = weights_gradient(trace);
    const std::int64_t steps = plan.tokens - 1;
    for (std::size_t layer = 0; layer < writer.w.size(); ++layer) {
      const at::Tensor in =
          layer == 0 ? trace.state.matrix(1, steps, plan.hidden_column())
                     : trace.written[layer - 1].matrix(0, steps).slice(2, 0, writer.values(layer - 1, plan));
      const at::Tensor d_values = operands.d_written[layer].matrix(0, steps);
      const at::Tensor ones = at::ones({1, 1, 1}, d_values.options());
      result[1 + 2 * layer] = sum_of_outer_products(in, d_values);
      result[2 + 2 * layer] =
          sum_of_outer_products(ones.expand({plan.replicas, d_values.size(1), 1}), d_values).squeeze(1);
    }
    return result;
  }

 private:
  static constexpr std::size_t kArguments = 10;

  static Writer writer_of(std::initializer_list<at::Tensor> w, std::initializer_list<at::Tensor> b) {
    Writer writer;
    for (const at::Tensor& layer : w) {
      if (layer.defined()) writer.w.push_back(layer);
    }
    for (const at::Tensor& layer : b) {
      if (layer.defined()) writer.b.push_back(layer);
    }
    return writer;
  }

  static at::Tensor weights_gradient(const Trace& trace) {
    const Plan& plan = trace.plan;
    const at::Tensor state = trace.state.matrix(0, plan.tokens), d_gates = trace.gates.matrix(0, plan.tokens);
    if (plan.cell != Cell::kGru) return sum_of_outer_products(state, d_gates);
    return at::cat(
        {sum_of_outer_products(state, d_gates.slice(2, 0, 2 * plan.width)),
         sum_of_outer_products(trace.reset.matrix(0, plan.tokens), d_gates.slice(2, 2 * plan.width))},
        2);
  }
};

}  // namespace
}  // namespace unrolled

bool unrolls_fused(const Recurrence& network, const Backend& backend) {
  return backend.device().is_cpu() && fused_kernels(backend, network.table) != nullptr &&
         (!network.memory || network.memory->writes.size() <= unrolled::kMostLayers);
}

at::Tensor unroll_fused(const at::Tensor& tokens, std::int64_t outputs, const Recurrence& network) {
  const at::Tensor& table = network.table;
  unrolled::Plan plan{.cell = network.cell,
                      .replicas = table.size(0),
                      .batch = tokens.size(0),
                      .tokens = tokens.size(1),
                      .outputs = outputs,
                      .symbols = table.size(1),
                      .width = network.width(),
                      .gates = gates_of(network.cell)};
  std::vector<std::optional<at::Tensor>> layers(2 * unrolled::kMostLayers);
  if (network.memory) {
    const Memory& memory = *network.memory;
    plan.has_memory = true;
    plan.kind = memory.kind;
    plan.memory_width = network.weights.size(1) - plan.width;
    plan.size = memory.size;
    plan.jump = memory.jump % memory.size;
    plan.actions = actions_of(memory.kind);
    for (std::size_t i = 0; i < memory.writes.size(); ++i) {
      layers[2 * i] = memory.writes[i].w.contiguous();
      layers[2 * i + 1] = memory.writes[i].b.contiguous();
    }
    layers[0] = at::cat({*layers[0], memory.actions.w}, 2);
    layers[1] = at::cat({*layers[1], memory.actions.b}, 1);
  }
  const at::Tensor weights = at::cat({table, network.weights}, 1);
  return unrolled::Unroll::apply(weights, layers[0], layers[1], layers[2], layers[3], layers[4], layers[5],
                                 tokens.contiguous(), plan, needs_gradient({weights}));
}

}  // namespace che
