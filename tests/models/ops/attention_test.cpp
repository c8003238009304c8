#include "models/ops/attention/attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "models/ops/device/kernel_table.h"
#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/ops/fused_comparison.h"
#include "tests/models/ops/targets.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

enum class Bias : std::uint8_t { kNone, kByOffset, kByPair, kSums };

struct Case {
  std::int64_t replicas, batch, queries, keys, heads, width;
  Bias bias;
  std::int64_t hidden = 0;  // Of f; 0 for none.
  bool adds_bias = true;
  bool shared_bias = false;  // By all replicas.
  bool causal = false;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return fmt::format(
      "r{}_b{}_q{}_k{}_h{}_w{}_{}_f{}{}{}{}", c.replicas, c.batch, c.queries, c.keys, c.heads, c.width,
      c.bias == Bias::kNone       ? "no_bias"
      : c.bias == Bias::kByOffset ? "by_offset"
      : c.bias == Bias::kByPair   ? "by_pair"
                                  : "sums",
      c.hidden, c.adds_bias ? "" : "_not_added", c.shared_bias ? "_shared" : "", c.causal ? "_causal" : "");
}

at::Tensor fused_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const AttentionTerms& terms) {
  return attention(q, k, v, terms, test_backend(Kernels::kFused));
}

class Attention : public testing::TestWithParam<Case> {
 protected:
  // q, k, v, the bias' values or sums and f's tensors, as far as there are.
  std::vector<at::Tensor> inputs() const {
    const Case& c = GetParam();
    std::vector<at::Tensor> inputs{some_numbers({c.replicas, c.batch, c.queries, c.heads, c.width}, 1),
                                   some_numbers({c.replicas, c.batch, c.keys, c.heads, c.width}, 2),
                                   some_numbers({c.replicas, c.batch, c.keys, c.heads, c.width}, 3)};
    if (c.bias == Bias::kSums) {
      inputs.push_back(some_numbers({c.replicas, c.batch, c.causal ? 1 : 2, c.heads, c.keys}, 4));
    } else if (c.bias != Bias::kNone) {
      const std::int64_t pairs = c.bias == Bias::kByOffset ? 2 * c.keys - 1 : c.queries * c.keys;
      inputs.push_back(some_numbers({c.shared_bias ? 1 : c.replicas, c.heads, pairs}, 4));
    }
    if (c.hidden > 0) {
      inputs.push_back(some_numbers({c.replicas, c.heads, c.hidden}, 5) / 4);
      inputs.push_back(some_numbers({c.replicas, c.heads, c.hidden}, 6) / 4);
      inputs.push_back(some_numbers({c.replicas, c.hidden}, 7));
      inputs.push_back(some_numbers({c.replicas, c.hidden, c.heads}, 8) / 4);
      inputs.push_back(some_numbers({c.replicas, c.heads}, 9));
    }
    return inputs;
  }

  static PairValues bias(const std::vector<at::Tensor>& in) {
    const Case& c = GetParam();
    if (c.bias == Bias::kSums) return {{}, false, {}, in[3]};
    return c.bias == Bias::kNone ? PairValues() : PairValues{in[3], c.bias == Bias::kByOffset};
  }

  static at::Tensor computed(const std::vector<at::Tensor>& in, Kernels kernels) {
    const Case& c = GetParam();
    AttentionTerms terms = bias(in);
    if (c.hidden > 0) {
      terms = AdaptedBias{bias(in), c.adds_bias, {at::cat({in[4], in[5]}, 1), in[6], in[7], in[8]}};
    }
    return attention(in[0], in[1], in[2], terms, test_backend(kernels), {.causal = c.causal});
  }

  static at::Tensor fused(const std::vector<at::Tensor>& in) { return computed(in, Kernels::kFused); }

  // The formula, with every intermediate in memory.
  static at::Tensor composed(const std::vector<at::Tensor>& in) {
    const Case& c = GetParam();
    const at::Tensor a = at::matmul(in[0].transpose(2, 3), in[1].permute({0, 1, 3, 4, 2})) /
                         std::sqrt(static_cast<double>(c.width));  // (r, b, h, q, k)
    at::Tensor logits = a;
    if (c.bias != Bias::kNone) {
      const at::Tensor dense = bias(in).dense(c.queries, c.keys);
      const at::Tensor b = (c.bias == Bias::kSums ? dense : dense.unsqueeze(1)).expand_as(a);
      if (c.adds_bias) logits = logits + b;
      if (c.hidden > 0) {
        const at::Tensor hidden = at::einsum("rbhqk,rhn->rbqkn", {a, in[4]}) +
                                  at::einsum("rbhqk,rhn->rbqkn", {b, in[5]}) +
                                  in[6].view({c.replicas, 1, 1, 1, -1});
        logits = logits + at::einsum("rbqkn,rnh->rbhqk", {at::leaky_relu(hidden, 0.01), in[7]}) +
                 in[8].view({c.replicas, 1, -1, 1, 1});
      }
    }
    if (c.causal) {
      const at::Tensor token = at::arange(c.keys);
      logits = logits.masked_fill(token.gt(token.slice(0, c.keys - c.queries).unsqueeze(1)), -HUGE_VAL);
    }
    return at::matmul(at::softmax(logits, -1), in[2].transpose(2, 3)).transpose(2, 3);
  }
};

class CausalAttention : public Attention {};

// Gradients of f's tensors, from input 4 on, are sums over all pairs of every example, whose rounding grows
// with the square root of their number.
TEST_P(Attention, FusedEqualsReference) {
  const Case& c = GetParam();
  const auto pairs = static_cast<double>(c.batch * c.queries * c.keys);
  expect_fused_equals_reference(
      fused, composed, inputs(),
      {.value = 1e-4, .sum = std::max(1e-4, 1e-6 * std::sqrt(pairs)), .first_sum = 4});
}

TEST_P(Attention, WithoutGradientsIsTheSame) {
  std::vector<at::Tensor> single;
  for (const at::Tensor& input : inputs()) single.push_back(input.to(at::kFloat).requires_grad_(true));
  for (const std::int64_t target : kernel_targets()) {
    SCOPED_TRACE("on " + target_name(target));
    const OnTarget on(target);
    const at::Tensor value = fused(single);
    const c10::NoGradGuard no_grad;
    for (const std::size_t threads : {1, 2}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      EXPECT_TRUE(at::equal(fused(single), value)) << threads << " threads";
    }
  }
}

// Neither a query's result nor its gradient has other bits because a later key, or its value, is no number;
// the results of those that see it are no numbers.
TEST_P(CausalAttention, KeepsEarlierQueriesFromWhatIsNoNumber) {
  const Case& c = GetParam();
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    const std::vector<std::int64_t> targets = kernel_targets();
    for (const std::int64_t target : targets) {
      if (kernels == Kernels::kReference && target != targets.front()) continue;
      SCOPED_TRACE(
          fmt::format("{} on {}", kernels == Kernels::kFused ? "fused" : "reference", target_name(target)));
      const OnTarget on(target);
      const auto outcome = [&](std::size_t spoilt, std::int64_t first_key) {
        std::vector<at::Tensor> leaves;
        for (const at::Tensor& input : inputs())
          leaves.push_back(input.to(test_backend(kernels).options).clone());
        leaves[spoilt].slice(2, first_key).fill_(std::numeric_limits<double>::quiet_NaN());
        for (at::Tensor& leaf : leaves) leaf.requires_grad_(true);
        return outcome_of([&](const auto& in) { return computed(in, kernels); }, leaves);
      };
      const Outcome before = outcome(1, c.keys);
      for (const std::size_t spoilt : {1, 2}) {
        for (const std::int64_t seeing : {std::int64_t{1}, c.queries - 1}) {
          const Outcome after = outcome(spoilt, c.keys - seeing);
          const auto earlier = [&](const at::Tensor& x) { return x.slice(2, 0, c.queries - seeing); };
          EXPECT_TRUE(at::equal(earlier(before.value), earlier(after.value))) << spoilt << ' ' << seeing;
          EXPECT_TRUE(at::equal(earlier(before.gradients[0]), earlier(after.gradients[0])))
              << spoilt << ' ' << seeing;
          EXPECT_TRUE(at::isnan(after.value.slice(2, c.queries - seeing)).all().item<bool>());
        }
      }
    }
  }
}

// Queries and keys around a vector's lanes and a tile, heads and widths that fill none, one query,
// trimmed queries, more examples than pieces, more keys than the backward pass of f takes at once.
INSTANTIATE_TEST_SUITE_P(
    Shapes, Attention,
    testing::Values(
        Case{1, 2, 5, 5, 2, 8, Bias::kNone}, Case{2, 3, 17, 17, 3, 5, Bias::kNone},
        Case{1, 1, 1, 1, 1, 1, Bias::kNone}, Case{1, 2, 1, 33, 8, 32, Bias::kNone},
        Case{2, 2, 16, 16, 2, 16, Bias::kByOffset}, Case{1, 19, 9, 12, 4, 6, Bias::kByOffset},
        Case{2, 2, 31, 40, 8, 8, Bias::kByOffset, 0, true, true}, Case{2, 2, 70, 70, 2, 4, Bias::kByPair},
        Case{1, 2, 3, 41, 8, 12, Bias::kByPair}, Case{2, 2, 9, 9, 8, 8, Bias::kByOffset, 16},
        Case{1, 3, 33, 40, 8, 32, Bias::kByOffset, 64}, Case{2, 2, 5, 7, 3, 4, Bias::kByOffset, 5, false},
        Case{1, 9, 1, 18, 2, 3, Bias::kByOffset, 4}, Case{1, 2, 4, 6, 1, 4, Bias::kByOffset, 3},
        Case{1, 2, 6, 11, 16, 2, Bias::kByOffset, 8}, Case{2, 2, 19, 23, 5, 4, Bias::kByPair, 7},
        Case{1, 2, 66, 70, 4, 4, Bias::kByPair, 4, false},
        Case{2, 2, 9, 9, 8, 8, Bias::kByOffset, 16, true, true}, Case{1, 1, 1, 1, 1, 1, Bias::kSums},
        Case{2, 3, 17, 17, 3, 5, Bias::kSums}, Case{1, 19, 9, 12, 4, 6, Bias::kSums},
        Case{2, 2, 31, 40, 8, 8, Bias::kSums}, Case{2, 2, 70, 70, 2, 4, Bias::kSums},
        Case{1, 2, 1, 33, 8, 32, Bias::kSums}, Case{2, 2, 19, 23, 5, 4, Bias::kSums, 7},
        Case{1, 19, 33, 40, 8, 8, Bias::kSums, 32}, Case{2, 2, 70, 70, 2, 4, Bias::kSums, 4, false},
        Case{1, 1, 1, 1, 1, 1, Bias::kSums, 3}, Case{1, 2, 1, 33, 16, 2, Bias::kSums, 8}),
    name_of);

constexpr Case causal(Case c) {
  c.causal = true;
  return c;
}

// Tokens around a vector's lanes and a tile, all of them or the last ones as queries, and heads up to 16.
const auto kCausalCases = testing::Values(
    causal({1, 1, 1, 1, 1, 1, Bias::kNone}), causal({2, 3, 15, 15, 3, 5, Bias::kNone}),
    causal({1, 2, 129, 129, 8, 4, Bias::kNone}), causal({2, 2, 16, 16, 2, 16, Bias::kByOffset}),
    causal({1, 19, 17, 17, 4, 6, Bias::kByOffset}), causal({1, 2, 1, 33, 8, 32, Bias::kByOffset}),
    causal({2, 2, 31, 40, 12, 8, Bias::kByOffset, 0, true, true}),
    causal({2, 2, 70, 70, 2, 4, Bias::kByPair}), causal({1, 2, 19, 41, 8, 12, Bias::kByPair}),
    causal({1, 1, 129, 129, 2, 4, Bias::kByPair}), causal({2, 2, 9, 9, 8, 8, Bias::kByOffset, 32}),
    causal({1, 3, 40, 40, 8, 32, Bias::kByOffset, 64}), causal({1, 2, 129, 129, 1, 4, Bias::kByOffset, 4}),
    causal({2, 2, 5, 7, 3, 4, Bias::kByOffset, 5, false}), causal({1, 9, 1, 18, 2, 3, Bias::kByOffset, 4}),
    causal({1, 2, 31, 33, 16, 2, Bias::kByOffset, 4}), causal({2, 2, 19, 23, 12, 4, Bias::kByPair, 4}),
    causal({1, 2, 66, 70, 4, 4, Bias::kByPair, 4, false}),
    causal({2, 2, 17, 17, 4, 4, Bias::kByOffset, 4, true, true}), causal({2, 3, 15, 15, 3, 5, Bias::kSums}),
    causal({1, 2, 129, 129, 8, 4, Bias::kSums}), causal({1, 2, 1, 33, 8, 32, Bias::kSums}),
    causal({2, 2, 31, 40, 12, 8, Bias::kSums}), causal({2, 2, 19, 23, 12, 4, Bias::kSums, 4}),
    causal({1, 2, 129, 129, 4, 4, Bias::kSums, 8}), causal({2, 3, 17, 17, 3, 5, Bias::kSums, 5, false}));

INSTANTIATE_TEST_SUITE_P(Causal, Attention, kCausalCases, name_of);
INSTANTIATE_TEST_SUITE_P(Cases, CausalAttention, kCausalCases, name_of);

// The longest sequences of the benchmark: 500 symbols, and 1,500 tokens of duplicate_string. Minutes and
// gigabytes, for the reference keeps every intermediate.
INSTANTIATE_TEST_SUITE_P(Long, Attention,
                         testing::Values(Case{1, 1, 500, 500, 8, 32, Bias::kByOffset},
                                         Case{1, 2, 500, 500, 8, 8, Bias::kByOffset, 16},
                                         Case{1, 1, 500, 500, 8, 8, Bias::kByPair, 64},
                                         Case{1, 1, 1500, 1500, 8, 32, Bias::kNone},
                                         Case{1, 1, 1500, 1500, 8, 8, Bias::kByOffset, 16},
                                         Case{1, 1, 500, 1500, 8, 8, Bias::kByPair, 8}),
                         name_of);

// By query and head, as a decoder has it, and one factor of a replica.
TEST(FusedAttention, ScalesTheLogitsAsTheReference) {
  for (const std::int64_t queries : {std::int64_t{1}, std::int64_t{17}}) {
    const std::vector<at::Tensor> inputs{some_numbers({2, 3, 17, 4, 8}, 1), some_numbers({2, 3, 17, 4, 8}, 2),
                                         some_numbers({2, 3, 17, 4, 8}, 3),
                                         some_numbers({2, 1, queries, 4, 1}, 4)};
    const auto scaled = [](Kernels kernels) {
      return [kernels](const std::vector<at::Tensor>& in) {
        return attention(in[0], in[1], in[2], PairValues(), test_backend(kernels),
                         {.scale = in[3], .causal = true});
      };
    };
    expect_fused_equals_reference(scaled(Kernels::kFused), scaled(Kernels::kReference), inputs);
  }
}

// Wider queries and keys, a mask that keeps keys out of sight, and a bias of each example's own, with f of
// the logits and the bias, of their sum, or none.
TEST(FusedAttention, OfWideRowsMasksAndExamplesIsTheReference) {
  constexpr std::int64_t kTokens = 19;
  const at::Tensor far = at::arange(1 - kTokens, kTokens).abs().gt(4);
  const at::Tensor mask = at::zeros({1, 2, 2 * kTokens - 1}, at::kDouble)
                              .masked_fill(far.logical_and(at::arange(2).lt(1).unsqueeze(1)), kOutOfSight);
  for (const bool causal : {false, true}) {
    for (const std::int64_t read_by_f : {0, 2, 4}) {
      for (const std::int64_t first_query : {std::int64_t{0}, std::int64_t{7}}) {
        SCOPED_TRACE(fmt::format("causal {}, f of {}, first query {}", causal, read_by_f, first_query));
        const std::int64_t queries = kTokens - first_query;
        std::vector<at::Tensor> inputs{
            some_numbers({2, 3, queries, 2, 8}, 1), some_numbers({2, 3, kTokens, 2, 8}, 2),
            some_numbers({2, 3, kTokens, 2, 4}, 3), some_numbers({2, 3, causal ? 1 : 2, 2, kTokens}, 4),
            some_numbers({2, 1, queries, 2, 1}, 5)};
        if (read_by_f > 0) {
          inputs.insert(inputs.end(), {some_numbers({2, read_by_f, 5}, 6) / 4, some_numbers({2, 5}, 7),
                                       some_numbers({2, 5, 2}, 8) / 4, some_numbers({2, 2}, 9)});
        }
        const auto run = [&](Kernels kernels) {
          return [&, kernels](const std::vector<at::Tensor>& in) {
            const PairValues bias{{}, false, {}, in[3]};
            AttentionTerms terms = bias;
            const auto reads = read_by_f == 2 ? PairMlp::Reads::kSum : PairMlp::Reads::kLogitsAndBias;
            if (read_by_f > 0) terms = AdaptedBias{bias, true, {in[5], in[6], in[7], in[8], reads}};
            return attention(
                in[0], in[1], in[2], terms, test_backend(kernels),
                {.scale = in[4], .mask = {mask.to(in[0].scalar_type()), true}, .causal = causal});
          };
        };
        expect_fused_equals_reference(run(Kernels::kFused), run(Kernels::kReference), inputs);
      }
    }
  }
}

TEST(FusedAttention, RefusesOperandsThatDoNotFit) {
  const at::Tensor q = at::zeros({2, 3, 4, 2, 8});
  const at::Tensor k = at::zeros({2, 3, 6, 2, 8});
  EXPECT_NO_THROW(fused_attention(q, k, k, PairValues()));
  EXPECT_THROW(fused_attention(q, at::zeros({2, 3, 6, 3, 8}), k, PairValues()), Error);
  EXPECT_THROW(fused_attention(q, k, k, PairValues{at::zeros({1, 2, 10}), true}), Error);
  EXPECT_THROW(fused_attention(q, k, k, PairValues{at::zeros({1, 2, 10}), false}), Error);
  EXPECT_NO_THROW(fused_attention(q, k, k, PairValues{at::zeros({1, 2, 11}), true}));
  EXPECT_NO_THROW(fused_attention(q, k, k, PairValues{{}, false, {}, at::zeros({2, 3, 2, 2, 6})}));
  EXPECT_THROW(attention(q, k, k, PairValues{{}, false, {}, at::zeros({2, 3, 2, 2, 6})},
                         test_backend(Kernels::kFused), {.causal = true}),
               Error);
  EXPECT_THROW(fused_attention(q, k, k, PairValues{{}, false, {}, at::zeros({2, 3, 2, 2, 4})}), Error);
  const PairMlp mlp{at::zeros({2, 4, 5}), at::zeros({2, 5}), at::zeros({2, 5, 2}), at::zeros({2, 2})};
  EXPECT_THROW(fused_attention(q, k, k, AdaptedBias{{}, true, mlp}), Error);
  const PairValues bias{at::zeros({1, 2, 11}), true};
  EXPECT_NO_THROW(fused_attention(q, k, k, AdaptedBias{bias, true, mlp}));
  PairMlp of_sum = mlp;
  of_sum.reads = PairMlp::Reads::kSum;
  EXPECT_THROW(fused_attention(q, k, k, AdaptedBias{bias, true, of_sum}), Error);
}

TEST(FusedAttention, ALogitThatIsNoNumberShows) {
  for (const std::int64_t target : kernel_targets()) {
    const OnTarget on(target);
    const at::Tensor q = at::ones({1, 1, 3, 2, 4});
    at::Tensor bias = at::zeros({1, 2, 9});
    bias[0][1][5] = std::numeric_limits<float>::quiet_NaN();  // Head 1, query 1, key 2.
    const at::Tensor out = fused_attention(q, q, q, PairValues{bias, false});
    EXPECT_TRUE(at::isnan(out[0][0][1][1]).all().item<bool>());
    EXPECT_EQ(4, at::isnan(out).sum().item<std::int64_t>());
  }
}

TEST(FusedAttention, CoversUpTo16HeadsOfAnMlp) {
  const AttentionKernels& kernels = cpu_kernels().attention;
  const auto covers_heads = [&](const AttentionTerms& terms, std::int64_t heads) {
    return covers(kernels, terms,
                  {.replicas = 1, .batch = 1, .queries = 2, .keys = 2, .heads = heads, .head_width = 4},
                  true);
  };
  EXPECT_TRUE(covers_heads(PairValues(), 17));
  AdaptedBias adapted{{}, true, {at::zeros({1, 2, 3}), {}, {}, {}}};
  EXPECT_TRUE(covers_heads(adapted, 16));
  EXPECT_FALSE(covers_heads(adapted, 17));
  adapted.mlp.reads = PairMlp::Reads::kBias;
  EXPECT_TRUE(covers_heads(adapted, 17)) << "f of the bias is an additive bias";
  adapted.mlp.w1 = at::zeros({1, 3, 2, 3});
  EXPECT_FALSE(covers_heads(adapted, 2)) << "f reads neighbouring keys";
  EXPECT_FALSE(covers_heads(CustomLogits(), 2));
}

}  // namespace
}  // namespace che
