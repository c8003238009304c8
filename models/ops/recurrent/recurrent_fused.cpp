// A recurrent network on a CPU in single precision. A step of some rows of the batch is one product of
// (x, m, h), x the symbol's one-hot vector, with the weights, the cell, and the memory; rows do not meet
// until the gradients of the weights, which are one product over all steps. Forward and backward cost 6
// (symbols + memory's width + width) gates width operations a token, and a token keeps (1 + gates) width
// values (an LSTM's one more width) beside its memory.
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "models/ops/product/product.h"
#include "models/ops/recurrent/recurrent.h"
#include "models/ops/recurrent/recurrent_kernels.h"

namespace che {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Fixed, so that no result depends on the number of threads; products of as many rows run at full speed.
constexpr std::int64_t kBlockRows = 64;

// Values by step. Where nothing keeps them, a few slots serve all steps in turn.
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

MatrixRows matrix(const StridedRows& rows) { return {rows.data, rows.stride}; }

// Matrix `replica` of (replicas, rows, columns) without gaps, from a row and column on.
MatrixRows matrix(const at::Tensor& matrices, std::int64_t replica, std::int64_t row = 0,
                  std::int64_t column = 0) {
  const std::int64_t stride = matrices.size(2);
  return {matrices.const_data_ptr<float>() + (replica * matrices.size(1) + row) * stride + column, stride};
}

// Some rows of one replica.
struct Block {
  std::int64_t replica, first, rows;
};

// Calls work(block) for all rows of all replicas.
template <class Work>
void for_each_block(std::int64_t replicas, std::int64_t batch, const Work& work) {
  const std::int64_t blocks = (batch + kBlockRows - 1) / kBlockRows;
  for_each_in_parallel(replicas * blocks, [&](std::int64_t item) {
    const std::int64_t first = item % blocks * kBlockRows;
    work(Block{item / blocks, first, std::min(kBlockRows, batch - first)});
  });
}

// What the network is, without its weights.
struct Plan {
  Cell cell;
  std::int64_t replicas, batch, tokens, outputs, symbols, width, gates;
  bool has_memory = false;
  MemoryKind kind = MemoryKind::kStack;
  std::int64_t memory_width = 0, size = 0, jump = 0, actions = 0;

  std::int64_t state_width() const { return symbols + memory_width + width; }
  std::int64_t hidden_column() const { return symbols + memory_width; }
  std::int64_t used(std::int64_t step) const { return std::min(size, step); }
  // Nobody reads the memory after the last step.
  bool updates_memory(std::int64_t step) const { return has_memory && step + 1 < tokens; }
  bool is_output(std::int64_t step) const { return step >= tokens - outputs; }
};

// The writer's layers as products: the first also makes the actions, behind its own values.
constexpr std::size_t kMostLayers = 3;
struct Writer {
  std::vector<at::Tensor> w, b;

  std::int64_t values(std::size_t layer, const Plan& plan) const {
    return b[layer].size(1) - (layer == 0 ? plan.actions : 0);
  }
};

// What a forward pass leaves.
struct Trace {
  Plan plan;
  Steps state;                 // (x, m, h) before each step, and after the last
  Steps gates;                 // See CellRows.
  Steps cell;                  // An LSTM's c.
  Steps reset;                 // A GRU's (x, r h).
  std::vector<Steps> written;  // What each layer of the writer makes.
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
};

// Forward, one block.
class Forward {
 public:
  Forward(const Trace& trace, const at::Tensor& weights, const Writer& writer, const std::int64_t* tokens,
          const Block& block)
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

  // Columns [first, first + count) of a.
  void multiply(const StridedRows& gates, const StridedRows& state, std::int64_t first,
                std::int64_t count) const {
    multiply_here(gates.data + first, gates.stride, matrix(state), matrix(weights_, block_.replica, 0, first),
                  block_.rows, count, plan_.state_width(), Write::kReplace);
  }

  void run_cell(std::int64_t step) const {
    const RecurrentKernels& kernels = cpu::recurrent_kernels();
    const StridedRows gates = rows(trace_.gates, step), state = rows(trace_.state, step);
    CellRows cell{.rows = block_.rows,
                  .width = plan_.width,
                  .gates = gates.data,
                  .previous = rows(trace_.state, step, plan_.hidden_column()),
                  .hidden = rows(trace_.state, step + 1, plan_.hidden_column())};
    if (plan_.cell == Cell::kGru) {
      multiply(gates, state, 0, 2 * plan_.width);
      write_symbols(trace_.reset, step);
      cell.reset = rows(trace_.reset, step, plan_.symbols);
      kernels.gru_reset(cell);
      multiply(gates, rows(trace_.reset, step), 2 * plan_.width, plan_.width);
      kernels.gru(cell);
      return;
    }
    multiply(gates, state, 0, plan_.gates * plan_.width);
    if (plan_.cell == Cell::kRnn) {
      kernels.rnn(cell);
      return;
    }
    cell.cell = rows(trace_.cell, step).data;
    cell.next_cell = rows(trace_.cell, step + 1).data;
    kernels.lstm(cell);
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
    const MemoryRows memory{.rows = block_.rows,
                            .size = plan_.size,
                            .width = plan_.memory_width,
                            .jump = plan_.jump,
                            .used = plan_.used(step),
                            .memory = rows(trace_.memory, step).data,
                            .written = in,
                            .actions = rows(trace_.written[0], step, writer_.values(0, plan_)),
                            .next = rows(trace_.memory, step + 1).data,
                            .top = rows(trace_.state, step + 1, plan_.symbols)};
    const RecurrentKernels& kernels = cpu::recurrent_kernels();
    (plan_.kind == MemoryKind::kStack ? kernels.stack : kernels.tape)(memory);
  }

  const Trace& trace_;
  const Plan& plan_;
  const at::Tensor& weights_;  // (replicas, state's width, gates width)
  const Writer& writer_;
  const std::int64_t* tokens_;
  Block block_;
};

// Backward, one block: leaves the gradients of a in trace.gates and those of the writer's layers in
// `d_written`.
class Backward {
 public:
  Backward(const Trace& trace, const at::Tensor& transposed, const std::vector<at::Tensor>& writer_transposed,
           const Writer& writer, const std::vector<Steps>& d_written, const Block& block)
      : trace_(trace),
        plan_(trace.plan),
        transposed_(transposed),
        writer_transposed_(writer_transposed),
        writer_(writer),
        d_written_(d_written),
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
    const std::int64_t values_of_first = writer_.values(0, plan_);
    const MemoryGradient memory{.rows = block_.rows,
                                .size = plan_.size,
                                .width = plan_.memory_width,
                                .jump = plan_.jump,
                                .used = plan_.used(step),
                                .memory = rows(trace_.memory, step).data,
                                .written = rows(trace_.written[last], step),
                                .actions = rows(trace_.written[0], step, values_of_first),
                                .d_next = d_next_memory_.data(),
                                .d_memory = d_memory_.data(),
                                .d_written = rows(d_written_[last], step),
                                .d_actions = rows(d_written_[0], step, values_of_first)};
    const RecurrentKernels& kernels = cpu::recurrent_kernels();
    (plan_.kind == MemoryKind::kStack ? kernels.stack_gradient : kernels.tape_gradient)(memory);
    for (std::size_t layer = last; layer > 0; --layer) {
      const StridedRows d_out = rows(d_written_[layer], step), d_in = rows(d_written_[layer - 1], step);
      const StridedRows in = rows(trace_.written[layer - 1], step);
      const std::int64_t width = writer_.values(layer - 1, plan_);
      multiply_here(d_in.data, d_in.stride, matrix(d_out), matrix(writer_transposed_[layer], block_.replica),
                    block_.rows, width, writer_.b[layer].size(1), Write::kReplace);
      for (std::int64_t r = 0; r < block_.rows; ++r) {
        for (std::int64_t i = 0; i < width; ++i) d_in.row(r)[i] = in.row(r)[i] > 0 ? d_in.row(r)[i] : 0;
      }
    }
    multiply_here(d_hidden().data, d_hidden().stride, matrix(rows(d_written_[0], step)),
                  matrix(writer_transposed_[0], block_.replica), block_.rows, plan_.width,
                  writer_.b[0].size(1), Write::kAdd);
  }

  void cell_gradient(std::int64_t step) {
    const RecurrentKernels& kernels = cpu::recurrent_kernels();
    const StridedRows gates = rows(trace_.gates, step);
    CellGradient cell{.rows = block_.rows,
                      .width = plan_.width,
                      .gates = gates.data,
                      .previous = rows(trace_.state, step, plan_.hidden_column()),
                      .hidden = rows(trace_.state, step + 1, plan_.hidden_column()),
                      .d_hidden = d_hidden()};
    if (plan_.cell == Cell::kGru) {
      kernels.gru_gradient(cell);
      multiply_here(d_reset_.data(), plan_.width, {gates.data + 2 * plan_.width, gates.stride},
                    matrix(transposed_, block_.replica, 2 * plan_.width), block_.rows, plan_.width,
                    plan_.width, Write::kReplace);
      cell.d_reset = d_reset_.data();
      kernels.gru_reset_gradient(cell);
      multiply_here(d_hidden().data, d_hidden().stride, matrix(gates), matrix(transposed_, block_.replica),
                    block_.rows, plan_.width, 2 * plan_.width, Write::kAdd);
      return;
    }
    if (plan_.cell == Cell::kLstm) {
      cell.cell = rows(trace_.cell, step).data;
      cell.next_cell = rows(trace_.cell, step + 1).data;
      cell.d_cell = d_cell_.data();
      kernels.lstm_gradient(cell);
    } else {
      kernels.rnn_gradient(cell);
    }
    multiply_here(d_state_.data(), plan_.memory_width + plan_.width, matrix(gates),
                  matrix(transposed_, block_.replica), block_.rows, plan_.memory_width + plan_.width,
                  plan_.gates * plan_.width, Write::kReplace);
  }

  const Trace& trace_;
  const Plan& plan_;
  const at::Tensor& transposed_;  // (replicas, gates width, memory's width + width)
  const std::vector<at::Tensor>& writer_transposed_;
  const Writer& writer_;
  const std::vector<Steps>& d_written_;
  Block block_;
  std::vector<float> d_state_;  // (rows, memory's width + width): of m and h
  std::vector<float> d_cell_, d_reset_;
  std::vector<float> d_memory_, d_next_memory_;  // Of the memory before the step, and after it.
};

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
    for_each_block(plan.replicas, plan.batch, [&](const Block& block) {
      Forward(trace, weights, writer, tokens.const_data_ptr<std::int64_t>(), block)
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
    const Trace& trace = kept<Trace>(context);
    const Plan& plan = trace.plan;
    const Writer writer = writer_of({saved[1], saved[3], saved[5]}, {saved[2], saved[4], saved[6]});
    const at::Tensor weights_transposed = transposed(saved[0].slice(1, plan.symbols));
    std::vector<at::Tensor> writer_transposed;
    std::vector<Steps> d_written;
    for (std::size_t layer = 0; layer < writer.w.size(); ++layer) {
      writer_transposed.push_back(transposed(writer.w[layer]));
      d_written.push_back({at::empty_like(trace.written[layer].values)});
    }
    const at::Tensor d_out = gradients[0].contiguous();
    for_each_block(plan.replicas, plan.batch, [&](const Block& block) {
      Backward(trace, weights_transposed, writer_transposed, writer, d_written, block)
          .run(d_out.const_data_ptr<float>());
    });

    variable_list result(kArguments);
    result[0] = weights_gradient(trace);
    const std::int64_t steps = plan.tokens - 1;
    for (std::size_t layer = 0; layer < writer.w.size(); ++layer) {
      const at::Tensor in =
          layer == 0 ? trace.state.matrix(1, steps, plan.hidden_column())
                     : trace.written[layer - 1].matrix(0, steps).slice(2, 0, writer.values(layer - 1, plan));
      const at::Tensor d_values = d_written[layer].matrix(0, steps);
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

bool unrolls_fused(const Recurrence& network, const Backend& backend) {
  return backend.device().is_cpu() && fused_kernels(backend, network.table) != nullptr &&
         (!network.memory || network.memory->writes.size() <= kMostLayers);
}

at::Tensor unroll_fused(const at::Tensor& tokens, std::int64_t outputs, const Recurrence& network) {
  const at::Tensor& table = network.table;
  Plan plan{.cell = network.cell,
            .replicas = table.size(0),
            .batch = tokens.size(0),
            .tokens = tokens.size(1),
            .outputs = outputs,
            .symbols = table.size(1),
            .width = network.width(),
            .gates = gates_of(network.cell)};
  std::vector<std::optional<at::Tensor>> layers(2 * kMostLayers);
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
  return Unroll::apply(weights, layers[0], layers[1], layers[2], layers[3], layers[4], layers[5],
                       tokens.contiguous(), plan, needs_gradient({weights}));
}

}  // namespace che
