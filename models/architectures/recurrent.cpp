#include "models/architectures/recurrent.h"

#include <ATen/ATen.h>
#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/architectures/model.h"
#include "models/ops/product/product.h"
#include "models/ops/recurrent/recurrent.h"

namespace che {
namespace {

// A kind of recurrent network.
struct Machine {
  const char* name;
  Cell cell;
  std::optional<MemoryKind> memory = {};
};

// The options of a machine with or without a memory, whose size is 0 then.
MemoryOptions options_of(const Machine& machine, const ModelParts& parts) {
  if (machine.memory) return parts.options.as<MemoryOptions>();
  return {parts.options.as<RecurrentOptions>(), 0, 0, 0};
}

// The widths of the layers that make what is written, without the last.
std::vector<std::int64_t> inner_writer_widths(MemoryKind memory) {
  if (memory == MemoryKind::kStack) return {};
  return {kTapeWriterWidth, kTapeWriterWidth};
}

std::string writer_name(std::size_t layer) { return fmt::format("write{}", layer); }

class ParameterList {
 public:
  void add_weights(const std::string& name, std::int64_t in, std::int64_t out, double gain = 1) {
    specs_.push_back({name, {in, out}, Init::fan_in(in, gain)});
  }
  void add_bias(const std::string& name, std::int64_t out) {
    specs_.push_back({name, {out}, Init::constant(0)});
  }
  void add_affine(const std::string& name, std::int64_t in, std::int64_t out) {
    add_weights(name + ".w", in, out);
    add_bias(name + ".b", out);
  }
  std::vector<ParameterSpec> take() { return std::move(specs_); }

 private:
  std::vector<ParameterSpec> specs_;
};

std::vector<ParameterSpec> parameters_of(const Machine& machine, const ModelParts& parts) {
  const MemoryOptions options = options_of(machine, parts);
  const std::int64_t inputs = parts.vocabulary.tokens + options.memory_cell;
  const std::int64_t width = options.width;
  ParameterList list;
  switch (machine.cell) {
    case Cell::kRnn:
      list.add_affine("core.input", inputs, width);
      list.add_affine("core.hidden", width, width);
      break;
    case Cell::kLstm:
      list.add_affine("core", inputs + width, 4 * width);
      break;
    case Cell::kGru: {
      // dm-haiku corrects the variance of this cell's weights for the cut of the normal, of no other's.
      constexpr double kCutDeviation = 0.87962566103423978;
      list.add_weights("core.w_i", inputs, 3 * width, 1 / kCutDeviation);
      list.add_weights("core.w_h", width, 3 * width, 1 / kCutDeviation);
      list.add_bias("core.b", 3 * width);
      break;
    }
  }
  if (machine.memory) {
    std::int64_t in = width;
    std::size_t layer = 0;
    for (const std::int64_t inner : inner_writer_widths(*machine.memory)) {
      list.add_affine(writer_name(layer++), in, inner);
      in = inner;
    }
    list.add_affine(writer_name(layer), in, options.memory_cell);
    list.add_affine("actions", width, actions_of(*machine.memory));
  }
  list.add_affine("out", width, parts.vocabulary.classes);
  return list.take();
}

class RecurrentModel : public Model {
 public:
  RecurrentModel(const Machine& machine, const ModelParts& parts, std::int64_t replicas,
                 const Backend& backend)
      : Model(parameters_of(machine, parts), replicas, backend),
        machine_(machine),
        options_(options_of(machine, parts)),
        symbols_(parts.vocabulary.tokens),
        classes_(parts.vocabulary.classes) {}

  at::Tensor features(const at::Tensor& tokens, std::int64_t outputs, const Pass& pass) const override {
    Recurrence network = core();
    if (machine_.memory) {
      network.memory =
          memory(options_.size_for(tokens.size(1), pass.is_evaluation), tokens.size(1) - outputs);
    }
    return at::relu(unroll(tokens, outputs, network, backend())).transpose(1, 2);
  }

  at::Tensor head(const at::Tensor& features) const override {
    const Affine out = layer("out");
    return affine(features.transpose(1, 2), out.w, out.b).transpose(1, 2);  // As they lie in memory.
  }

  std::int64_t classes() const override { return classes_; }

 private:
  Affine layer(const std::string& name) const {
    return {parameters()[name + ".w"], parameters()[name + ".b"]};
  }

  // The rows of the symbols are apart from those that multiply what is read from the memory.
  Recurrence core() const {
    const auto symbols = [&](const at::Tensor& w, const at::Tensor& b) {
      return w.slice(1, 0, symbols_) + b.unsqueeze(1);
    };
    if (machine_.cell == Cell::kLstm) {
      const Affine all = layer("core");
      return {Cell::kLstm, symbols(all.w, all.b), all.w.slice(1, symbols_)};
    }
    if (machine_.cell == Cell::kGru) {
      return {Cell::kGru, symbols(parameters()["core.w_i"], parameters()["core.b"]),
              parameters()["core.w_h"]};
    }
    const Affine input = layer("core.input"), hidden = layer("core.hidden");
    return {Cell::kRnn, symbols(input.w, input.b + hidden.b),
            at::cat({input.w.slice(1, symbols_), hidden.w}, 1)};
  }

  Memory memory(std::int64_t size, std::int64_t input_length) const {
    Memory memory{*machine_.memory, size, input_length, layer("actions"), {}};
    for (std::size_t i = 0; i <= inner_writer_widths(memory.kind).size(); ++i) {
      memory.writes.push_back(layer(writer_name(i)));
    }
    return memory;
  }

  Machine machine_;
  MemoryOptions options_;
  std::int64_t symbols_;
  std::int64_t classes_;
};

Architecture architecture_of(const Machine& machine) {
  return {
      .name = machine.name,
      .parameters = [machine](const ModelParts& parts) { return parameters_of(machine, parts); },
      .make = [machine](ModelParts parts, std::int64_t replicas,
                        const Backend& backend) -> std::unique_ptr<Model> {
        return std::make_unique<RecurrentModel>(machine, parts, replicas, backend);
      },
  };
}

const Registered<Architecture> rnn{architecture_of({"rnn", Cell::kRnn})};
const Registered<Architecture> lstm{architecture_of({"lstm", Cell::kLstm})};
const Registered<Architecture> gru{architecture_of({"gru", Cell::kGru})};
const Registered<Architecture> stack_rnn{architecture_of({"stack_rnn", Cell::kRnn, MemoryKind::kStack})};
const Registered<Architecture> stack_lstm{architecture_of({"stack_lstm", Cell::kLstm, MemoryKind::kStack})};
const Registered<Architecture> tape_rnn{architecture_of({"tape_rnn", Cell::kRnn, MemoryKind::kTape})};

}  // namespace
}  // namespace che
