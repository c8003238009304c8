// Inputs of attention's kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/ops/attention/attention_kernels.h"

namespace che {

enum class Pairs { kNone, kByOffset, kByPair };

struct AttentionCase {
  AttentionShape shape;
  Pairs bias = Pairs::kByOffset;
  Pairs hidden_bias = Pairs::kByOffset;  // Where there is f.
  bool replicas_share = false;           // The pairs.
  bool avoids_kinks = false;             // Whether f's LeakyReLU has inputs far from zero.
};

std::string name_of(const AttentionCase& c);

// Cases in which a query sees no later key: all tokens are queries, or the last ones.
std::vector<AttentionCase> causal_cases();

// Random operands of one case, and views of them.
class AttentionOperands {
 public:
  explicit AttentionOperands(const AttentionCase& c);

  AttentionInputs inputs() const;

  std::int64_t row() const { return shape_.heads * shape_.head_width; }
  std::int64_t out_size() const { return shape_.replicas * shape_.batch * shape_.queries * row(); }
  std::int64_t kv_size() const { return shape_.replicas * shape_.batch * shape_.keys * row(); }
  std::int64_t mlp_size() const { return shape_.replicas * shape_.heads * shape_.hidden; }

  // Of a gradient: with all replicas, even where they share the values.
  std::int64_t bias_size() const { return shape_.replicas * shape_.heads * pairs(case_.bias); }
  std::int64_t hidden_bias_size() const { return shape_.replicas * shape_.hidden * pairs(case_.hidden_bias); }

  // Views of results that have the sizes above.
  template <class Value>
  ExampleView<Value> out_view(Value* data) const {
    return {data, shape_.batch * shape_.queries * row(), shape_.queries * row()};
  }
  template <class Value>
  ExampleView<Value> kv_view(Value* data) const {
    return {data, shape_.batch * shape_.keys * row(), shape_.keys * row()};
  }
  template <class Value>
  PairView<Value> bias_view(Value* data) const {
    return pair_view(data, case_.bias, shape_.heads, false);
  }
  template <class Value>
  PairView<Value> hidden_bias_view(Value* data) const {
    return pair_view(data, case_.hidden_bias, shape_.hidden, false);
  }

  // One value a query, head and feature.
  const std::vector<float>& d_out() const { return d_out_; }

 private:
  std::int64_t pairs(Pairs kind) const {
    if (kind == Pairs::kNone) return 0;
    return kind == Pairs::kByOffset ? 2 * shape_.keys - 1 : shape_.queries * shape_.keys;
  }

  template <class Value>
  PairView<Value> pair_view(Value* data, Pairs kind, std::int64_t rows, bool shared) const {
    if (kind == Pairs::kNone) return {};
    return {data, shared ? 0 : rows * pairs(kind), pairs(kind), kind == Pairs::kByOffset};
  }

  AttentionCase case_;
  AttentionShape shape_;
  std::vector<float> q_, k_, v_, bias_, w1_, w2_, b2_, hidden_bias_, d_out_;
};

}  // namespace che
