#include "models/ops/attention/attention.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "models/ops/by_replica.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// f with its first layer split by its inputs: hidden layer LeakyReLU_0.01(w1 A + hidden bias).
struct SplitMlp {
  at::Tensor w1;                // (replicas, heads, hidden)
  at::Tensor w2;                // (replicas, hidden, heads)
  at::Tensor b2;                // (replicas, heads)
  PairValues hidden_bias;       // w1 B + b1
  at::Tensor hidden_sums = {};  // In place of w1 B where B is by running sums.
};

// The terms of fused attention: a bias to add, one by running sums, and f, as far as there are.
struct FusedTerms {
  PairValues bias;
  std::optional<AdaptedBias> adapted;
  at::Tensor sums = {};
};

FusedTerms fused_terms(const AttentionTerms& terms) {
  const auto* const adapted = std::get_if<AdaptedBias>(&terms);
  if (adapted == nullptr) {
    const PairValues bias = additive_bias(terms);
    return bias.by_example() ? FusedTerms{{}, {}, bias.sums} : FusedTerms{bias, {}};
  }
  const PairMlp& f = adapted->mlp;
  if (f.reads != PairMlp::Reads::kBias) {
    const PairValues added = adapted->adds_bias ? adapted->bias : PairValues();
    return added.by_example() ? FusedTerms{{}, *adapted, added.sums} : FusedTerms{added, *adapted};
  }
  // f(B) is an additive bias itself.
  const auto with_f = [f, adds_bias = adapted->adds_bias](const at::Tensor& bias) {
    const at::Tensor hidden = affine_in_front(bias, f.w1, f.b1);
    const at::Tensor values = affine_in_front(at::leaky_relu(hidden, 0.01), f.w2, f.b2);
    return adds_bias ? bias + values : values;
  };
  const PairValues& bias = adapted->bias;
  if (!bias.compute) return {{with_f(bias.values), bias.by_offset}, {}};
  const auto compute = [with_f, of_bias = bias.compute](std::int64_t first, std::int64_t count,
                                                        std::int64_t seen) {
    return with_f(of_bias(first, count, seen));
  };
  return {{{}, false, compute}, {}};
}

// f for the bias `bias`, B or some queries of it, or none.
SplitMlp split(const PairMlp& f, const PairValues& bias, std::int64_t heads, std::int64_t keys) {
  // By logits, then by the bias; split() has one gradient for all parts.
  const std::vector<at::Tensor> w1 = f.w1.split(heads, 1);
  SplitMlp split{w1.front().contiguous(), f.w2.contiguous(), f.b2.contiguous(), {}};
  if (f.reads == PairMlp::Reads::kLogits || bias.by_example()) {
    split.hidden_bias = {f.b1.unsqueeze(2).expand({-1, -1, 2 * keys - 1}), true};
  } else {
    split.hidden_bias = {affine_in_front(bias.values, w1.back(), f.b1), bias.by_offset};
  }
  if (bias.by_example()) split.hidden_sums = affine(bias.sums.transpose(3, 4), w1.back()).contiguous();
  return split;
}

// A replica for each of `replicas`, and rows without gaps.
at::Tensor of_replicas(const PairValues& pairs, std::int64_t replicas) {
  if (!pairs.defined()) return {};
  return pairs.values.contiguous().expand({replicas, -1, -1});
}

template <class Value>
PairView<Value> view_of(const at::Tensor& values, bool by_offset) {
  if (!values.defined()) return {};
  return {values.mutable_data_ptr<float>(), values.stride(0), values.stride(1), by_offset};
}

// How the operands are laid out.
struct AttentionLayout {
  bool bias_by_offset = false;
  bool hidden_by_offset = false;
  bool causal = false;
};

ExampleView<float> gradient_of(const at::Tensor& values) {
  return values.defined() ? mutable_examples_of(values) : ExampleView<float>();
}

// The inputs of a kernel, and the tensors that hold them. Those behind v may be undefined.
struct AttentionOperands {
  at::Tensor q, k, v;
  at::Tensor bias;  // (replicas, heads, pairs)
  at::Tensor w1, w2, b2;
  at::Tensor hidden_bias;  // (replicas, hidden, pairs)
  at::Tensor sums;         // (replicas, batch, sides, heads, keys)
  at::Tensor hidden_sums;  // (replicas, batch, sides, keys, hidden)
  AttentionLayout layout;

  AttentionShape shape() const {
    return {.replicas = q.size(0),
            .batch = q.size(1),
            .queries = q.size(2),
            .keys = k.size(2),
            .heads = q.size(3),
            .head_width = q.size(4),
            .hidden = w1.defined() ? w1.size(2) : 0,
            .causal = layout.causal,
            .has_sums = sums.defined() || hidden_sums.defined()};
  }

  AttentionInputs inputs() const {
    const auto data = [](const at::Tensor& values) {
      return values.defined() ? values.const_data_ptr<float>() : nullptr;
    };
    const auto examples = [](const at::Tensor& values) {
      return values.defined() ? examples_of(values) : ExampleView<const float>();
    };
    return {.shape = shape(),
            .q = examples(q),
            .k = examples(k),
            .v = examples(v),
            .bias = view_of<const float>(bias, layout.bias_by_offset),
            .sums = examples(sums),
            .w1 = data(w1),
            .w2 = data(w2),
            .b2 = data(b2),
            .hidden_bias = view_of<const float>(hidden_bias, layout.hidden_by_offset),
            .hidden_sums = examples(hidden_sums)};
  }
};

class Attention : public torch::autograd::Function<Attention> {
 public:
  // An undefined tensor is passed as an empty optional.
  using Operand = std::optional<at::Tensor>;

  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const Operand& bias, const Operand& w1, const Operand& w2,
                            const Operand& b2, const Operand& hidden_bias, const Operand& sums,
                            const Operand& hidden_sums, const AttentionLayout& layout,
                            const Backend& backend) {
    variable_list saved{q, k, v};
    for (const Operand* const x : {&bias, &w1, &w2, &b2, &hidden_bias, &sums, &hidden_sums}) {
      saved.push_back(x->value_or(at::Tensor()));
    }
    const AttentionOperands operands = operands_of(saved, layout);
    const AttentionKernels& kernels = device_kernels(backend).attention;
    const at::Tensor out = at::empty(q.sizes(), q.options());
    const at::Tensor for_backward = at::empty({kernels.saved_values(operands.shape())}, q.options());
    run_kernel(backend, "attention", kernels.forward, operands.inputs(), mutable_examples_of(out),
               for_backward.mutable_data_ptr<float>());
    saved.push_back(for_backward);
    context->save_for_backward(std::move(saved));
    keep(context, std::tuple(layout, backend));
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    RECORD_FUNCTION("che::attention", {});
    const variable_list saved = context->get_saved_variables();
    const auto& [layout, backend] = kept<std::tuple<AttentionLayout, Backend>>(context);
    const AttentionOperands operands = operands_of(saved, layout);
    variable_list out;
    for (std::size_t i = 0; i + 1 < saved.size(); ++i) {
      const bool is_wanted = saved[i].defined() && (i != kBias || context->needs_input_grad(kBias));
      out.push_back(is_wanted ? at::empty(saved[i].sizes(), saved[i].options()) : at::Tensor());
    }
    const AttentionOperands into = operands_of(out, layout);
    const auto data = [](const at::Tensor& x) { return x.defined() ? x.mutable_data_ptr<float>() : nullptr; };
    const at::Tensor d_out = gradients[0].contiguous();
    run_kernel(backend, "attention's gradient", device_kernels(backend).attention.backward, operands.inputs(),
               saved.back().const_data_ptr<float>(), examples_of(d_out),
               {.d_q = gradient_of(into.q),
                .d_k = gradient_of(into.k),
                .d_v = gradient_of(into.v),
                .d_bias = view_of<float>(into.bias, layout.bias_by_offset),
                .d_sums = gradient_of(into.sums),
                .d_w1 = data(into.w1),
                .d_w2 = data(into.w2),
                .d_b2 = data(into.b2),
                .d_hidden_bias = view_of<float>(into.hidden_bias, layout.hidden_by_offset),
                .d_hidden_sums = gradient_of(into.hidden_sums)});
    out.resize(out.size() + 2);  // For the layout and the backend.
    return out;
  }

 private:
  static constexpr std::size_t kBias = 3;  // Among the operands.

  static AttentionOperands operands_of(const variable_list& x, const AttentionLayout& layout) {
    return {x[0], x[1], x[2], x[kBias], x[4], x[5], x[6], x[7], x[8], x[9], layout};
  }
};

// Whether a backward pass may follow.
bool need_gradients(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const AttentionTerms& terms) {
  const PairValues bias = additive_bias(terms);
  if (needs_gradient({q, k, v, bias.values, bias.sums})) return true;
  const auto* const adapted = std::get_if<AdaptedBias>(&terms);
  return adapted != nullptr && needs_gradient({adapted->bias.values, adapted->mlp.w1, adapted->mlp.b1,
                                               adapted->mlp.w2, adapted->mlp.b2});
}

at::Tensor fused_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const FusedTerms& terms, const Backend& backend, bool causal, bool has_gradients) {
  RECORD_FUNCTION("che::attention", {});
  const std::int64_t replicas = q.size(0);
  const std::int64_t queries = q.size(2);
  const std::int64_t keys = k.size(2);
  const std::int64_t heads = q.size(3);
  AttentionOperands operands;
  operands.q = q.contiguous();
  operands.k = k.contiguous();
  operands.v = v.contiguous();
  operands.layout.causal = causal;
  if (terms.sums.defined()) operands.sums = terms.sums.contiguous();
  // The terms of queries first .. first + count - 1 and their first `seen` keys.
  const auto set_terms = [&](std::int64_t first, std::int64_t count, std::int64_t seen) {
    const auto part = [&](const PairValues& pairs) {
      return pairs.of_queries(queries, keys, first, count, seen);
    };
    const PairValues bias = part(terms.bias);
    operands.bias = of_replicas(bias, replicas);
    operands.layout.bias_by_offset = bias.by_offset;
    if (!terms.adapted) return;
    const SplitMlp f = split(terms.adapted->mlp, part(terms.adapted->bias), heads, seen);
    operands.w1 = f.w1;
    operands.w2 = f.w2;
    operands.b2 = f.b2;
    operands.hidden_bias = of_replicas(f.hidden_bias, replicas);
    operands.layout.hidden_by_offset = f.hidden_bias.by_offset;
    operands.hidden_sums = f.hidden_sums;
  };
  if (has_gradients) {
    const auto optional = [](const at::Tensor& x) { return x.defined() ? std::optional(x) : std::nullopt; };
    set_terms(0, queries, keys);
    return Attention::apply(operands.q, operands.k, operands.v, optional(operands.bias),
                            optional(operands.w1), optional(operands.w2), optional(operands.b2),
                            optional(operands.hidden_bias), optional(operands.sums),
                            optional(operands.hidden_sums), operands.layout, backend);
  }
  const AttentionKernels& kernels = device_kernels(backend).attention;
  const c10::NoGradGuard no_grad;
  const at::Tensor out = at::empty(q.sizes(), q.options());
  const AttentionOperands all = operands;
  const PairValues& pairs = terms.adapted ? terms.adapted->bias : terms.bias;
  const bool are_by_pair = pairs.values.defined() || pairs.compute;
  const std::int64_t step = are_by_pair && !pairs.by_offset ? kernels.query_block : queries;
  for (std::int64_t first = 0; first < queries; first += step) {
    const std::int64_t count = std::min(step, queries - first);
    // The queries of a causal operation are its last tokens.
    const std::int64_t seen = causal ? keys - queries + first + count : keys;
    set_terms(first, count, seen);
    operands.q = all.q.narrow(2, first, count);
    operands.k = all.k.narrow(2, 0, seen);
    operands.v = all.v.narrow(2, 0, seen);
    run_kernel(backend, "attention", kernels.forward, operands.inputs(),
               mutable_examples_of(out.narrow(2, first, count)), nullptr);
  }
  return out;
}

void check_bias(const PairValues& bias, const at::Tensor& q, std::int64_t keys, bool causal) {
  if (bias.compute) return;
  if (bias.by_example()) {
    check_operand("attention: sums", bias.sums, {q.size(0), q.size(1), causal ? 1 : 2, q.size(3), keys}, q);
    return;
  }
  const std::int64_t pairs = bias.by_offset ? 2 * keys - 1 : q.size(2) * keys;
  const std::int64_t own = bias.values.size(0) == 1 ? 1 : q.size(0);
  check_operand("attention: bias", bias.values, {own, q.size(3), pairs}, q);
}

void check_operands(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const AttentionTerms& terms, bool causal) {
  const std::int64_t replicas = q.size(0);
  const std::int64_t heads = q.size(3);
  check_operand("attention: k", k, {replicas, q.size(1), k.size(2), heads, q.size(4)}, q);
  check_operand("attention: v", v, {replicas, q.size(1), k.size(2), heads, std::min(v.size(4), k.size(4))},
                q);
  if (const PairValues bias = additive_bias(terms); bias.defined()) check_bias(bias, q, k.size(2), causal);
  const auto* const adapted = std::get_if<AdaptedBias>(&terms);
  if (adapted == nullptr) return;
  const PairMlp& mlp = adapted->mlp;
  if (adapted->bias.defined() != (mlp.reads != PairMlp::Reads::kLogits)) {
    throw Error("attention: an MLP over a bias needs one, and one over the logits alone takes none",
                ErrorKind::kRuntime);
  }
  const std::int64_t hidden = mlp.b1.size(-1);
  const std::int64_t inputs = mlp.reads == PairMlp::Reads::kLogitsAndBias ? 2 * heads : heads;
  const auto layer = [&](std::int64_t in, std::int64_t out) -> std::vector<std::int64_t> {
    if (mlp.taps() == 1) return {replicas, in, out};
    return {replicas, mlp.taps(), in, out};
  };
  check_operand("attention: mlp.w1", mlp.w1, layer(inputs, hidden), q);
  check_operand("attention: mlp.b1", mlp.b1, {replicas, hidden}, q);
  check_operand("attention: mlp.w2", mlp.w2, layer(hidden, heads), q);
  check_operand("attention: mlp.b2", mlp.b2, {replicas, heads}, q);
}

// The terms of examples that are replicas of one example each, where their bias is by example.
AttentionTerms by_example(AttentionTerms terms, std::int64_t batch, std::int64_t queries, std::int64_t keys,
                          bool has_gradients) {
  const auto bias_of_each = [&](PairValues& bias) {
    const auto compute = [bias, queries, keys](std::int64_t first, std::int64_t count, std::int64_t seen) {
      return bias.part(queries, keys, first, count, seen).flatten(0, 1).flatten(2);
    };
    bias = has_gradients ? PairValues{compute(0, queries, keys), false} : PairValues{{}, false, compute};
  };
  if (auto* const bias = std::get_if<PairValues>(&terms)) bias_of_each(*bias);
  if (auto* const adapted = std::get_if<AdaptedBias>(&terms)) {
    bias_of_each(adapted->bias);
    PairMlp& f = adapted->mlp;
    for (at::Tensor* const weight : {&f.w1, &f.b1, &f.w2, &f.b2}) {
      std::vector<std::int64_t> shape(static_cast<std::size_t>(weight->dim()) + 1, -1);
      shape[1] = batch;
      *weight = weight->unsqueeze(1).expand(shape).flatten(0, 1);
    }
  }
  return terms;
}

}  // namespace

bool covers(const AttentionKernels& kernels, const AttentionTerms& terms, AttentionShape shape,
            bool has_gradients) {
  if (std::holds_alternative<CustomLogits>(terms)) return false;
  const auto* const adapted = std::get_if<AdaptedBias>(&terms);
  if (adapted != nullptr && adapted->mlp.taps() != 1) return false;
  // f of the bias alone is an additive bias.
  const bool is_adapted = adapted != nullptr && adapted->mlp.reads != PairMlp::Reads::kBias;
  shape.hidden = is_adapted ? adapted->mlp.w1.size(-1) : 0;
  shape.has_sums = additive_bias(terms).by_example();
  if (adapted != nullptr && !is_adapted && shape.has_sums) return false;
  return kernels.serves(shape, has_gradients);
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const AttentionTerms& terms, const Backend& backend, const AttentionOptions& options) {
  check_operands(q, k, v, terms, options.causal);
  if (options.observer) reference::observe(q, k, v, terms, options);
  const KernelTable* const fused = fused_kernels(backend, q);
  const bool has_gradients = need_gradients(q, k, v, terms) || needs_gradient({options.scale});
  const AttentionShape shape{.replicas = q.size(0),
                             .batch = q.size(1),
                             .queries = q.size(2),
                             .keys = k.size(2),
                             .heads = q.size(3),
                             .head_width = q.size(4),
                             .causal = options.causal};
  const bool is_covered = fused != nullptr && covers(fused->attention, terms, shape, has_gradients);
  if (fused != nullptr && !is_covered && additive_bias(terms).by_example()) {
    const auto each = [](const at::Tensor& x) { return x.flatten(0, 1).unsqueeze(1); };
    AttentionOptions of_each = options;
    of_each.observer = {};
    if (options.scale.defined()) {
      of_each.scale = options.scale.expand({q.size(0), q.size(1), -1, -1, -1}).flatten(0, 1).unsqueeze(1);
    }
    return attention(each(q), each(k), each(v),
                     by_example(terms, q.size(1), q.size(2), k.size(2), has_gradients), backend, of_each)
        .view({q.size(0), q.size(1), q.size(2), q.size(3), v.size(4)});
  }
  if (!is_covered) {
    constexpr std::int64_t kMostAtOnce = 2048;
    const bool in_blocks = options.causal && !has_gradients && q.size(2) > kMostAtOnce;
    return in_blocks ? reference::attention_in_blocks(q, k, v, terms, options)
                     : reference::attention(q, k, v, terms, options);
  }
  const at::Tensor scaled = options.scale.defined() ? multiplied(q, options.scale) : q;
  const auto fuse = [&](const at::Tensor& queries, const at::Tensor& values) {
    FusedTerms added = fused_terms(terms);
    if (options.mask.defined()) added.bias = masked(added.bias, options.mask, q.size(2), k.size(2));
    return fused_attention(queries, k, values, added, backend, options.causal, has_gradients);
  };
  const std::int64_t width = v.size(4);
  if (width == k.size(4)) return fuse(scaled, v);
  // The kernels divide by the root of the width that they see.
  const double factor = std::sqrt(static_cast<double>(k.size(4)) / static_cast<double>(width));
  return fuse(scaled * factor, at::constant_pad_nd(v, {0, k.size(4) - width})).slice(4, 0, width);
}

}  // namespace che
