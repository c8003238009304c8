#include "tests/gpu/attention_rig.h"

#include <fmt/core.h>

#include <cmath>

#include "tests/gpu/kernel_rig.h"

namespace che {

std::vector<AttentionCase> causal_cases() {
  return {
      {.shape = {1, 1, 1, 1, 8, 32, 0, true}, .bias = Pairs::kNone},
      {.shape = {2, 2, 40, 40, 8, 32, 0, true}, .replicas_share = true},
      {.shape = {1, 2, 5, 70, 3, 12, 0, true}, .bias = Pairs::kByPair},
      {.shape = {1, 1, 33, 50, 16, 32, 0, true}},
      {.shape = {2, 1, 41, 41, 8, 32, 16, true}},
      {.shape = {1, 2, 17, 35, 4, 16, 8, true}, .bias = Pairs::kByPair, .hidden_bias = Pairs::kByPair},
      {.shape = {1, 1, 18, 18, 5, 8, 6, true}, .bias = Pairs::kNone},
      {.shape = {1, 1, 150, 150, 2, 4, 0, true}},
      {.shape = {1, 1, 40, 150, 2, 4, 8, true}},
  };
}

std::string name_of(const AttentionCase& c) {
  constexpr const char* kKinds[] = {"none", "offset", "pair"};
  const AttentionShape& s = c.shape;
  return fmt::format("r{}_b{}_q{}_k{}_h{}_w{}_d{}_{}_{}{}{}", s.replicas, s.batch, s.queries, s.keys, s.heads,
                     s.head_width, s.hidden, kKinds[static_cast<int>(c.bias)],
                     kKinds[static_cast<int>(c.hidden_bias)], c.replicas_share ? "_shared" : "",
                     s.causal ? "_causal" : "");
}

AttentionOperands::AttentionOperands(const AttentionCase& c)
    : case_(c),
      shape_(c.shape),
      q_(some_values(out_size(), 1)),
      k_(some_values(kv_size(), 2)),
      v_(some_values(kv_size(), 3)),
      bias_(some_values(bias_size() / (c.replicas_share ? shape_.replicas : 1), 4)),
      w1_(some_values(mlp_size(), 5, 0.5F)),
      w2_(some_values(mlp_size(), 6, 0.5F / std::sqrt(static_cast<float>(shape_.hidden + 1)))),
      b2_(some_values(shape_.hidden > 0 ? shape_.replicas * shape_.heads : 0, 7)),
      hidden_bias_(some_values(hidden_bias_size() / (c.replicas_share ? shape_.replicas : 1), 8)),
      d_out_(some_values(out_size(), 9)) {
  if (!c.avoids_kinks) return;
  for (float& x : hidden_bias_) x += std::copysign(8.0F, x);
}

AttentionInputs AttentionOperands::inputs() const {
  const bool has_mlp = shape_.hidden > 0;
  return {.shape = shape_,
          .q = out_view(q_.data()),
          .k = kv_view(k_.data()),
          .v = kv_view(v_.data()),
          .bias = pair_view(bias_.data(), case_.bias, shape_.heads, case_.replicas_share),
          .sums = {},
          .w1 = has_mlp ? w1_.data() : nullptr,
          .w2 = has_mlp ? w2_.data() : nullptr,
          .b2 = has_mlp ? b2_.data() : nullptr,
          .hidden_bias = pair_view(hidden_bias_.data(), has_mlp ? case_.hidden_bias : Pairs::kNone,
                                   shape_.hidden, case_.replicas_share)};
}

}  // namespace che
