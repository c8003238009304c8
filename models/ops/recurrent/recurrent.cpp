#include "models/ops/recurrent/recurrent.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "core/error.h"
#include "models/ops/recurrent/recurrent_trace.h"

namespace che {
namespace {

void check_affine(std::string_view name, const Affine& layer, std::int64_t in, std::int64_t out,
                  const at::Tensor& like) {
  check_operand(name, layer.w, {like.size(0), in, out}, like);
  check_operand(name, layer.b, {like.size(0), out}, like);
}

void check_operands(const at::Tensor& tokens, std::int64_t outputs, const Recurrence& network) {
  const at::Tensor& table = network.table;
  const std::int64_t width = network.width();
  check_operand("unroll: tokens", tokens, {tokens.size(0), tokens.size(1)}, at::kLong, table.device());
  if (outputs < 1 || outputs > tokens.size(1)) {
    throw Error(fmt::format("unroll: {} outputs of {} tokens; ask for 1 to {}", outputs, tokens.size(1),
                            tokens.size(1)),
                ErrorKind::kRuntime);
  }
  const std::int64_t memory_width = network.weights.size(1) - width;
  check_operand(
      "unroll: weights", network.weights,
      {table.size(0), network.memory ? memory_width + width : width, gates_of(network.cell) * width}, table);
  if (!network.memory) return;
  const Memory& memory = *network.memory;
  if (network.cell == Cell::kGru) {
    throw Error("unroll: a GRU takes no memory; use an RNN or LSTM", ErrorKind::kRuntime);
  }
  if (memory.size < 1 || memory_width < 1 || memory.writes.empty()) {
    throw Error(
        fmt::format("unroll: a memory needs a size, a width and a number of write layers of at least 1; "
                    "got {}, {} and {}",
                    memory.size, memory_width, memory.writes.size()),
        ErrorKind::kRuntime);
  }
  check_affine("unroll: actions", memory.actions, width, actions_of(memory.kind), table);
  std::int64_t in = width;
  for (const Affine& layer : memory.writes) {
    const bool is_last = &layer == &memory.writes.back();
    check_affine("unroll: writes", layer, in, is_last ? memory_width : layer.b.size(-1), table);
    in = layer.b.size(-1);
  }
}

}  // namespace

std::int64_t gates_of(Cell cell) {
  constexpr std::array<std::int64_t, 3> kGates = {1, 4, 3};
  return kGates.at(static_cast<std::size_t>(cell));
}

std::int64_t actions_of(MemoryKind memory) { return memory == MemoryKind::kStack ? 3 : 5; }

at::Tensor unroll(const at::Tensor& tokens, std::int64_t outputs, const Recurrence& network,
                  const Backend& backend) {
  check_operands(tokens, outputs, network);
  if (unrolls_fused(network, backend)) return unroll_fused(tokens, outputs, network);
  return reference::unroll(tokens, outputs, network, backend);
}

}  // namespace che
