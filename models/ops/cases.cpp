#include "models/ops/cases.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "models/ops/adam/adam_update.h"
#include "models/ops/attention/attention.h"
#include "models/ops/batch_score/batch_score.h"
#include "models/ops/dropout/dropout.h"
#include "models/ops/embedding/embedding.h"
#include "models/ops/feed_forward/feed_forward.h"
#include "models/ops/recurrent/recurrent.h"
#include "models/ops/residual_norm/residual_norm.h"
#include "models/ops/rotation/rotation.h"

namespace che {
namespace {

using Tensors = std::vector<at::Tensor>;

const Dropout kDropout{.rate = 0.1, .seeds = {3}, .purpose = Purpose::kDropout, .step = 5};

// Standard normal values, the same at every call.
class Numbers {
 public:
  at::Tensor constant(at::IntArrayRef shape, double scale = 1) {
    return at::randn(shape, generator_, at::TensorOptions().dtype(at::kFloat)) * scale;
  }
  at::Tensor variable(at::IntArrayRef shape, double scale = 1) {
    return constant(shape, scale).requires_grad_(true);
  }
  // Hidden biases, half of them near `distance` and half near its negative. A gradient may jump between
  // devices where a ReLU's input is zero but for rounding, which happens among a million inputs.
  at::Tensor far_from_zero(at::IntArrayRef shape, double distance) {
    const at::Tensor signs = at::arange(shape.back(), at::kFloat).remainder(2) * 2 - 1;
    return (constant(shape, 0.1) + distance * signs).requires_grad_(true);
  }
  // 0 .. bound - 1.
  at::Tensor whole(at::IntArrayRef shape, std::int64_t bound) {
    return at::randint(bound, shape, generator_, at::TensorOptions().dtype(at::kLong));
  }

 private:
  at::Generator generator_ = at::detail::createCPUGenerator(7);
};

std::vector<OperationCase> attentions(const CaseSizes& sizes, std::int64_t tokens, std::int64_t batch) {
  Numbers numbers;
  const std::vector<std::int64_t> shape{1, batch, tokens, sizes.heads, sizes.head_width};
  const Tensors qkv{numbers.variable(shape), numbers.variable(shape), numbers.variable(shape)};
  const auto pairs = static_cast<double>(batch * tokens * tokens);
  const auto row = static_cast<double>(sizes.heads * sizes.head_width);
  const double bytes = 4 * 4 * row * static_cast<double>(batch * tokens);
  std::vector<OperationCase> all;
  const auto bias_of = [](const at::Tensor& values, bool by_offset) {
    return values.dim() == 5 ? PairValues{{}, false, {}, values} : PairValues{values, by_offset};
  };
  // `inputs` of f follow those of the bias, where there are some.
  const auto add = [&](const std::string& name, const Tensors& inputs, bool by_offset, bool causal) {
    const bool has_f = inputs.size() > 4;
    const double of_f = has_f ? 4 * static_cast<double>(sizes.heads * sizes.hidden) : 0;
    all.push_back({.name = fmt::format("attention{}{}", name, causal ? ", causal" : ""),
                   .inputs = inputs,
                   .apply =
                       [bias_of, by_offset, causal, has_f](const Tensors& in, const Backend& backend) {
                         AttentionTerms terms;
                         if (in.size() > 3) terms = bias_of(in[3], by_offset);
                         if (has_f) {
                           terms = AdaptedBias{.bias = bias_of(in[3], by_offset),
                                               .adds_bias = true,
                                               .mlp = {.w1 = in[4], .b1 = in[5], .w2 = in[6], .b2 = in[7]}};
                         }
                         return attention(in[0], in[1], in[2], terms, backend, {.causal = causal});
                       },
                   .operations = (4 * row + of_f) * (causal ? pairs / 2 : pairs),
                   .bytes = bytes,
                   .has_tf32 = true});
  };
  const auto add_f = [&](Tensors& inputs) {
    inputs.push_back(numbers.variable({1, 2 * sizes.heads, sizes.hidden}, 0.1));
    inputs.push_back(numbers.far_from_zero({1, sizes.hidden}, 3));
    inputs.push_back(numbers.variable({1, sizes.hidden, sizes.heads}, 0.3));
    inputs.push_back(numbers.variable({1, sizes.heads}, 0.3));
  };
  add("", qkv, false, false);
  add("", qkv, false, true);
  for (const bool by_offset : {true, false}) {
    const std::int64_t values = by_offset ? 2 * tokens - 1 : tokens * tokens;
    const std::string kind = by_offset ? "by offset" : "by pair";
    Tensors inputs = qkv;
    inputs.push_back(numbers.variable({1, sizes.heads, values}));
    add(", bias " + kind, inputs, by_offset, false);
    add_f(inputs);
    add(", DAPE " + kind, inputs, by_offset, false);
    add(", DAPE " + kind, inputs, by_offset, true);
  }
  for (const bool causal : {false, true}) {
    Tensors inputs = qkv;
    inputs.push_back(numbers.variable({1, batch, causal ? 1 : 2, sizes.heads, tokens}));
    add(", bias by sums", inputs, false, causal);
    add_f(inputs);
    add(", DAPE by sums", inputs, false, causal);
  }
  return all;
}

// Recurrent networks of the model's width. A GPU has no kernel of its own for them.
std::vector<OperationCase> recurrences(const CaseSizes& sizes, std::int64_t tokens, std::int64_t batch) {
  Numbers numbers;
  constexpr std::int64_t kSymbols = 12, kMemoryWidth = 8, kMemorySize = 40, kWriterWidth = 64;
  const std::int64_t width = sizes.heads * sizes.head_width;
  const at::Tensor symbols = numbers.whole({batch, tokens}, kSymbols);
  std::vector<OperationCase> all;
  // The layers of `writer_widths` write to the memory.
  const auto add = [&](const std::string& name, Cell cell, std::optional<MemoryKind> memory,
                       const std::vector<std::int64_t>& writer_widths) {
    const std::int64_t gates = gates_of(cell), read = width + (memory ? kMemoryWidth : 0);
    Tensors inputs{symbols, numbers.variable({1, kSymbols, gates * width}, 0.3),
                   numbers.variable({1, read, gates * width}, 0.05)};
    if (memory) {
      inputs.push_back(numbers.variable({1, width, actions_of(*memory)}, 0.1));
      inputs.push_back(numbers.variable({1, actions_of(*memory)}, 0.1));
    }
    std::int64_t in = width;
    for (const std::int64_t out : writer_widths) {
      inputs.push_back(numbers.variable({1, std::exchange(in, out), out}, 0.1));
      inputs.push_back(numbers.far_from_zero({1, out}, 3));
    }
    const auto steps = static_cast<double>(batch * tokens);
    all.push_back({.name = "recurrent, " + name,
                   .inputs = inputs,
                   .apply =
                       [cell, memory](const Tensors& of, const Backend& backend) {
                         Recurrence network{.cell = cell, .table = of[1], .weights = of[2]};
                         if (memory) {
                           network.memory = Memory{.kind = *memory,
                                                   .size = kMemorySize,
                                                   .jump = of[0].size(1) / 2,
                                                   .actions = {of[3], of[4]},
                                                   .writes = {}};
                           for (std::size_t i = 5; i < of.size(); i += 2) {
                             network.memory->writes.push_back({of[i], of[i + 1]});
                           }
                         }
                         return unroll(of[0], of[0].size(1), network, backend);
                       },
                   .operations = 2 * steps * static_cast<double>(gates * width * read),
                   .bytes = 4 * steps * static_cast<double>((gates + 1) * width),
                   .has_tf32 = true});
  };
  add("LSTM", Cell::kLstm, std::nullopt, {});
  add("GRU", Cell::kGru, std::nullopt, {});
  if (tokens == 1) return all;  // The memory is never read, so that its layers have no gradient.
  add("RNN with a stack", Cell::kRnn, MemoryKind::kStack, {kMemoryWidth});
  add("RNN with a tape", Cell::kRnn, MemoryKind::kTape, {kWriterWidth, kWriterWidth, kMemoryWidth});
  return all;
}

std::vector<OperationCase> others(const CaseSizes& sizes, std::int64_t tokens, std::int64_t batch) {
  Numbers numbers;
  const std::int64_t width = sizes.heads * sizes.head_width;
  const std::vector<std::int64_t> rows{1, batch, tokens, width};
  const auto values = static_cast<double>(batch * tokens * width);
  std::vector<OperationCase> all;
  all.push_back({.name = "dropout",
                 .inputs = {numbers.variable(rows)},
                 .apply =
                     [](const Tensors& in, const Backend& backend) {
                       return dropout(in[0], {kDropout, 1, 0}, backend);
                     },
                 .operations = 6 * values,
                 .bytes = 8 * values});
  all.push_back({.name = "residual norm",
                 .inputs = {numbers.variable(rows), numbers.variable(rows), numbers.variable({1, width}),
                            numbers.variable({1, width}), numbers.variable({1, width})},
                 .apply =
                     [](const Tensors& in, const Backend& backend) {
                       return residual_norm(in[0], in[1], in[2], in[3], in[4], {kDropout, 2, 0}, backend);
                     },
                 .operations = 30 * values,
                 .bytes = 12 * values});
  all.push_back(
      {.name = "feed forward",
       .inputs = {numbers.variable(rows), numbers.variable({1, width, 4 * width}, 0.05),
                  numbers.far_from_zero({1, 4 * width}, 4), numbers.variable({1, 4 * width, width}, 0.05)},
       .apply =
           [](const Tensors& in, const Backend& backend) {
             return feed_forward(in[0], in[1], in[2], in[3], Activation::kRelu, backend);
           },
       .operations = 16 * values * static_cast<double>(width),
       .bytes = 40 * values,
       .has_tf32 = true});
  all.push_back({.name = "rotation",
                 .inputs = {numbers.variable({1, batch, tokens, sizes.heads, sizes.head_width}),
                            numbers.constant({tokens, sizes.head_width / 2}),
                            numbers.constant({tokens, sizes.head_width / 2})},
                 .apply = [](const Tensors& in,
                             const Backend& backend) { return rotate(in[0], in[1], in[2], backend); },
                 .operations = 3 * values,
                 .bytes = 8 * values});
  // Symbols and classes as tasks have them.
  constexpr std::int64_t kSymbols = 12;
  all.push_back(
      {.name = "embedding",
       .inputs = {numbers.variable({1, kSymbols, width}), numbers.whole({batch, tokens}, kSymbols)},
       .apply = [](const Tensors& in,
                   const Backend& backend) { return Embedding(in[1], kSymbols, 1, backend).rows(in[0], 0); },
       .bytes = 4 * values});
  const auto logits = static_cast<double>(batch * tokens * kSymbols);
  all.push_back(
      {.name = "loss and accuracy",
       .inputs = {numbers.variable({1, batch, tokens, kSymbols}), numbers.whole({batch, tokens}, kSymbols),
                  numbers.whole({batch, tokens}, 2).to(at::kByte)},
       .apply =
           [](const Tensors& in, const Backend& backend) {
             const BatchScore score = score_batch(in[0], in[1], in[2], backend);
             return at::stack({score.loss, score.correct / static_cast<double>(in[1].numel())});
           },
       .operations = 5 * logits,
       .bytes = 4 * logits});
  return all;
}

}  // namespace

std::vector<OperationCase> sequence_cases(const CaseSizes& sizes, std::int64_t tokens, std::int64_t batch) {
  std::vector<OperationCase> all = attentions(sizes, tokens, batch);
  std::ranges::move(others(sizes, tokens, batch), std::back_inserter(all));
  std::ranges::move(recurrences(sizes, tokens, batch), std::back_inserter(all));
  return all;
}

OperationCase adam_case(std::int64_t size) {
  Numbers numbers;
  const auto values = static_cast<double>(size);
  return {.name = fmt::format("Adam, {} values", size),
          .inputs = {numbers.constant({1, size}), at::full({1, 1}, 1e-3), numbers.constant({1, size}, 0.1),
                     numbers.constant({1, size}, 0.1).square(), numbers.constant({1, size})},
          .apply =
              [](const Tensors& in, const Backend& backend) {
                return adam_update(in[0], in[1], in[2], in[3], in[4], {.updates = 3}, backend);
              },
          .operations = 14 * values,
          .bytes = 32 * values,
          .is_in_place = true};
}

}  // namespace che
