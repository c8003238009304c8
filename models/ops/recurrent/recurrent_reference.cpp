#include <ATen/ATen.h>

#include <utility>

#include "models/ops/embedding/embedding.h"
#include "models/ops/product/product.h"
#include "models/ops/recurrent/recurrent.h"

namespace che::reference {
namespace {

struct State {
  at::Tensor hidden;  // (replicas, batch, width)
  at::Tensor cell;    // Likewise, of an LSTM.
  at::Tensor memory;  // (replicas, batch, size, memory's width)
};

// One step of the cell from its input's part of a.
void step(const Recurrence& network, const at::Tensor& input, State& state) {
  const std::int64_t width = network.width();
  const at::Tensor& h = state.hidden;
  if (network.cell == Cell::kGru) {
    const std::vector<at::Tensor> weights = network.weights.split({2 * width, width}, -1);
    const std::vector<at::Tensor> inputs = input.split({2 * width, width}, -1);
    const std::vector<at::Tensor> zr = at::sigmoid(inputs[0] + product(h, weights[0])).chunk(2, -1);
    state.hidden = (1 - zr[0]) * h + zr[0] * at::tanh(inputs[1] + product(zr[1] * h, weights[1]));
    return;
  }
  const at::Tensor read = network.memory ? at::cat({state.memory.select(2, 0), h}, -1) : h;
  const at::Tensor a = input + product(read, network.weights);
  if (network.cell == Cell::kRnn) {
    state.hidden = at::relu(a);
    return;
  }
  const std::vector<at::Tensor> gates = a.chunk(4, -1);
  state.cell = at::sigmoid(gates[2] + 1) * state.cell + at::sigmoid(gates[0]) * at::tanh(gates[1]);
  state.hidden = at::sigmoid(gates[3]) * at::tanh(state.cell);
}

// m'_i from the neighbours m_{i+1} for pops and m_{i-1} for pushes.
at::Tensor stack_update(const at::Tensor& memory, const at::Tensor& written, const at::Tensor& actions) {
  const std::int64_t size = memory.size(2);
  const at::Tensor pushed = at::cat({written.unsqueeze(2), memory.slice(2, 0, size - 1)}, 2);
  const at::Tensor popped = at::constant_pad_nd(memory.slice(2, 1), {0, 0, 0, 1});
  return actions.select(2, 0) * pushed + actions.select(2, 1) * popped + actions.select(2, 2) * memory;
}

at::Tensor tape_update(const at::Tensor& memory, const at::Tensor& written, const at::Tensor& actions,
                       std::int64_t jump) {
  const at::Tensor marked = at::cat({written.unsqueeze(2), memory.slice(2, 1)}, 2);
  at::Tensor moved = actions.select(2, 0) * marked;
  std::int64_t action = 1;
  for (const std::int64_t shift : {std::int64_t{-1}, std::int64_t{1}, -jump, jump}) {
    moved = moved + actions.select(2, action++) * at::roll(marked, shift, 2);
  }
  return moved;
}

at::Tensor updated(const Memory& memory, const State& state) {
  at::Tensor written = affine(state.hidden, memory.writes.front().w, memory.writes.front().b);
  for (std::size_t i = 1; i < memory.writes.size(); ++i)
    written = affine(at::relu(written), memory.writes[i].w, memory.writes[i].b);
  // (replicas, batch, actions, 1, 1)
  const at::Tensor actions =
      at::softmax(affine(state.hidden, memory.actions.w, memory.actions.b), -1).unsqueeze(-1).unsqueeze(-1);
  return memory.kind == MemoryKind::kStack ? stack_update(state.memory, written, actions)
                                           : tape_update(state.memory, written, actions, memory.jump);
}

}  // namespace

at::Tensor unroll(const at::Tensor& tokens, std::int64_t outputs, const Recurrence& network,
                  const Backend& backend) {
  const at::Tensor& table = network.table;
  const std::int64_t replicas = table.size(0), batch = tokens.size(0);
  // (replicas, batch, tokens, gates width)
  const at::Tensor inputs = Embedding(tokens, table.size(1), replicas, backend).rows(table, 0);
  State state{
      .hidden = at::zeros({replicas, batch, network.width()}, table.options()), .cell = {}, .memory = {}};
  if (network.cell == Cell::kLstm) state.cell = state.hidden;
  if (network.memory) {
    const std::int64_t memory_width = network.weights.size(1) - network.width();
    state.memory = at::zeros({replicas, batch, network.memory->size, memory_width}, table.options());
  }
  std::vector<at::Tensor> hidden;
  for (std::int64_t t = 0; t < tokens.size(1); ++t) {
    step(network, inputs.select(2, t), state);
    if (t >= tokens.size(1) - outputs) hidden.push_back(state.hidden);
    if (network.memory && t + 1 < tokens.size(1)) state.memory = updated(*network.memory, state);
  }
  return at::stack(hidden, 1);
}

}  // namespace che::reference
