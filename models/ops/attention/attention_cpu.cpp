#include <algorithm>
#include <bit>
#include <vector>

#include "models/ops/attention/attention_kernels.h"
#include "models/ops/attention/attention_simd.h"
#include "models/ops/device/partition.h"

namespace che::cpu {
namespace {

constexpr std::int64_t kMaxMlpHeads = 16;
constexpr std::int64_t kPartsOfReplica = 8;
// Without gradients, of all (example, tile of queries) pairs.
constexpr std::int64_t kMaxParts = 64;

std::size_t count(std::int64_t values) { return static_cast<std::size_t>(values); }

// Values at pairs with queries last, padded to whole tiles, as vector code reads them. By offset: (rows,
// 2 keys - 1 and padding), reversed, so that neighbouring queries read neighbouring values. By pair: (keys,
// rows, queries), so that what is read together lies together.
struct PairLayout {
  std::int64_t rows;
  std::int64_t queries;
  std::int64_t keys;
  bool by_offset;

  std::int64_t offsets() const { return 2 * keys - 1; }
  std::int64_t row_size() const { return by_offset ? offsets() + kQueryTile : padded_queries(queries); }
  std::int64_t size() const { return rows * row_size() * (by_offset ? 1 : keys); }

  template <class Value>
  PairTable<Value> table(Value* data) const {
    if (by_offset) return {data + 2 * keys - queries - 1, row_size(), -1};
    return {data, row_size(), rows * row_size()};
  }

  // Calls f(row, element of the row's pairs, element of the layout) for every pair.
  template <class F>
  void for_each(const F& f) const {
    if (by_offset) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t o = 0; o < offsets(); ++o) f(row, offsets() - 1 - o, row * row_size() + o);
      }
      return;
    }
    Partition{keys, kMaxParts}.for_each([&](std::int64_t, std::int64_t key) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t query = 0; query < queries; ++query) {
          f(row, query * keys + key, (key * rows + row) * row_size() + query);
        }
      }
    });
  }

  std::vector<float> lay_out(const PairView<const float>& pairs, std::int64_t replica) const {
    std::vector<float> values(count(size()));
    for_each([&](std::int64_t row, std::int64_t from, std::int64_t to) {
      values[count(to)] = pairs.row(replica, row)[from];
    });
    return values;
  }

  // Adds up the layouts of `parts` parts.
  void add_up(const std::vector<float>& sums, std::int64_t parts, const PairView<float>& pairs,
              std::int64_t replica) const {
    const std::vector<float> total = sum_of_parts(sums, parts, size());
    for_each([&](std::int64_t row, std::int64_t to, std::int64_t from) {
      pairs.row(replica, row)[to] = total[count(from)];
    });
  }
};

// One replica's operands as vector code reads them.
class Replica {
 public:
  Replica(const AttentionInputs& in, std::int64_t replica) : in_(in), replica_(replica) {
    const AttentionShape& shape = in.shape;
    if (in.bias.data != nullptr) bias_ = bias_layout().lay_out(in.bias, replica);
    if (!has_mlp()) return;
    const std::int64_t padded = mlp_heads();
    // (hidden, {w1, w2}, heads padded)
    mlp_weights_.resize(count(shape.hidden * 2 * padded));
    mlp_b2_.resize(count(padded));
    for (std::int64_t h = 0; h < shape.heads; ++h) {
      for (std::int64_t n = 0; n < shape.hidden; ++n) {
        mlp_weights_[count(2 * n * padded + h)] = in.w1[first_layer(h, n)];
        mlp_weights_[count((2 * n + 1) * padded + h)] = in.w2[second_layer(n, h)];
      }
      mlp_b2_[count(h)] = in.b2[replica * shape.heads + h];
    }
    hidden_bias_ = hidden_layout().lay_out(in.hidden_bias, replica);
    mlp_ = {.hidden = shape.hidden,
            .heads = padded,
            .weights = mlp_weights_.data(),
            .b2 = mlp_b2_.data(),
            .hidden_bias = hidden_layout().table<const float>(hidden_bias_.data())};
  }

  bool has_mlp() const { return in_.shape.hidden > 0; }

  // Vector code takes 2, 4, 8 or 16 heads.
  std::int64_t mlp_heads() const {
    return std::max<std::int64_t>(
        2, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(in_.shape.heads))));
  }

  // Elements of w1 and w2.
  std::int64_t first_layer(std::int64_t head, std::int64_t hidden) const {
    return (replica_ * in_.shape.heads + head) * in_.shape.hidden + hidden;
  }
  std::int64_t second_layer(std::int64_t hidden, std::int64_t head) const {
    return (replica_ * in_.shape.hidden + hidden) * in_.shape.heads + head;
  }

  PairLayout bias_layout() const { return layout(in_.shape.heads, in_.bias.by_offset); }
  PairLayout hidden_layout() const { return layout(in_.shape.hidden, in_.hidden_bias.by_offset); }

  AttentionExample example(std::int64_t b) const {
    const AttentionShape& shape = in_.shape;
    return {.heads = shape.heads,
            .head_width = shape.head_width,
            .queries = shape.queries,
            .keys = shape.keys,
            .q = in_.q.of(replica_, b),
            .k = in_.k.of(replica_, b),
            .v = in_.v.of(replica_, b),
            .bias = bias_.empty() ? PairTable<const float>() : bias_layout().table<const float>(bias_.data()),
            .sums = in_.sums.of(replica_, b),
            .hidden_sums = in_.hidden_sums.of(replica_, b),
            .mlp = has_mlp() ? &mlp_ : nullptr,
            .causal = shape.causal};
  }

 private:
  PairLayout layout(std::int64_t rows, bool by_offset) const {
    return {.rows = rows, .queries = in_.shape.queries, .keys = in_.shape.keys, .by_offset = by_offset};
  }

  const AttentionInputs& in_;
  std::int64_t replica_;
  std::vector<float> bias_, mlp_weights_, mlp_b2_, hidden_bias_;
  PairMlpWeights mlp_{};
};

// Floats of an example's attention weights, (heads, keys, queries padded).
std::int64_t weights_of_example(const AttentionShape& shape) {
  return shape.heads * shape.keys * padded_queries(shape.queries);
}

std::int64_t saved_values(const AttentionShape& shape) {
  return shape.replicas * shape.batch * weights_of_example(shape);
}

// Every tile of queries has weights of its own, for no longer than it takes.
void forward_only(const AttentionInputs& in, const ExampleView<float>& out) {
  const AttentionShape& shape = in.shape;
  std::vector<Replica> replicas;
  replicas.reserve(count(shape.replicas));
  for (std::int64_t r = 0; r < shape.replicas; ++r) replicas.emplace_back(in, r);
  const std::int64_t tiles = padded_queries(shape.queries) / kQueryTile;
  const Partition parts{shape.replicas * shape.batch * tiles, kMaxParts};
  parts.for_each_part([&](std::int64_t begin, std::int64_t end) {
    std::vector<float> weights(count(shape.heads * shape.keys * kQueryTile));
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t r = item / tiles / shape.batch;
      const std::int64_t b = item / tiles % shape.batch;
      attention_forward_tile(replicas[count(r)].example(b), item % tiles * kQueryTile, weights.data(),
                             kQueryTile, out.of(r, b));
    }
  });
}

int forward(const KernelCall& /*call*/, const AttentionInputs& in, const ExampleView<float>& out,
            float* saved) {
  if (saved == nullptr) {
    forward_only(in, out);
    return kKernelDone;
  }
  const AttentionShape& shape = in.shape;
  for (std::int64_t r = 0; r < shape.replicas; ++r) {
    const Replica replica(in, r);
    Partition{shape.batch, kPartsOfReplica}.for_each([&](std::int64_t, std::int64_t b) {
      float* const weights = saved + (r * shape.batch + b) * weights_of_example(shape);
      for (std::int64_t first = 0; first < shape.queries; first += kQueryTile) {
        attention_forward_tile(replica.example(b), first, weights + first, padded_queries(shape.queries),
                               out.of(r, b));
      }
    });
  }
  return kKernelDone;
}

// The sum of kQueryTile lanes: halves first, then one lane after the other.
float sum_of_tile(const float* lanes) {
  static_assert(kQueryTile == 16);
  float sum = 0;
  for (std::int64_t lane = 0; lane < 8; ++lane) sum += lanes[lane] + lanes[lane + 8];
  return sum;
}

// Gradients of what examples share, one sum for each part of the batch.
struct SharedSums {
  std::vector<float> bias, hidden_bias;
  std::vector<float> mlp_weights;  // (parts, hidden, {w1, w2}, heads padded, kQueryTile)
  std::vector<float> mlp_b2;       // (parts, heads padded, kQueryTile)
};

void add_up_mlp(const Replica& replica, const AttentionShape& shape, std::int64_t r, const SharedSums& sums,
                std::int64_t parts, const AttentionGradients& out) {
  const std::int64_t padded = replica.mlp_heads();
  const auto total = [&](const std::vector<float>& values, std::int64_t size, std::int64_t element) {
    float sum = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      sum += sum_of_tile(values.data() + (part * size + element) * kQueryTile);
    }
    return sum;
  };
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    for (std::int64_t n = 0; n < shape.hidden; ++n) {
      const std::int64_t size = shape.hidden * 2 * padded;
      out.d_w1[replica.first_layer(h, n)] = total(sums.mlp_weights, size, 2 * n * padded + h);
      out.d_w2[replica.second_layer(n, h)] = total(sums.mlp_weights, size, (2 * n + 1) * padded + h);
    }
    out.d_b2[r * shape.heads + h] = total(sums.mlp_b2, padded, h);
  }
}

bool serves(const AttentionShape& shape, bool /*has_gradients*/) {
  return shape.hidden == 0 || shape.heads <= kMaxMlpHeads;
}

int backward(const KernelCall& /*call*/, const AttentionInputs& in, const float* saved,
             const ExampleView<const float>& d_out, const AttentionGradients& out) {
  const AttentionShape& shape = in.shape;
  const Partition examples{shape.batch, kPartsOfReplica};
  const std::int64_t parts = examples.count();
  for (std::int64_t r = 0; r < shape.replicas; ++r) {
    const Replica replica(in, r);
    const PairLayout bias = replica.bias_layout();
    const PairLayout hidden = replica.hidden_layout();
    const std::int64_t weights = shape.hidden * 2 * replica.mlp_heads() * kQueryTile;
    const std::int64_t b2 = replica.mlp_heads() * kQueryTile;
    SharedSums sums;
    if (out.d_bias.data != nullptr) sums.bias.resize(count(parts * bias.size()));
    if (replica.has_mlp()) {
      sums.mlp_weights.resize(count(parts * weights));
      sums.mlp_b2.resize(count(parts * b2));
      sums.hidden_bias.resize(count(parts * hidden.size()));
    }
    examples.for_each([&](std::int64_t part, std::int64_t b) {
      ExampleGradients gradients{.d_q = out.d_q.of(r, b),
                                 .d_k = out.d_k.of(r, b),
                                 .d_v = out.d_v.of(r, b),
                                 .d_bias = {},
                                 .d_sums = out.d_sums.of(r, b),
                                 .d_hidden_sums = out.d_hidden_sums.of(r, b),
                                 .d_hidden_bias = {}};
      if (!sums.bias.empty()) gradients.d_bias = bias.table(sums.bias.data() + part * bias.size());
      if (replica.has_mlp()) {
        gradients.d_weights = sums.mlp_weights.data() + part * weights;
        gradients.d_b2 = sums.mlp_b2.data() + part * b2;
        gradients.d_hidden_bias = hidden.table(sums.hidden_bias.data() + part * hidden.size());
      }
      attention_example_gradients(replica.example(b),
                                  saved + (r * shape.batch + b) * weights_of_example(shape), d_out.of(r, b),
                                  gradients);
    });
    if (!sums.bias.empty()) bias.add_up(sums.bias, parts, out.d_bias, r);
    if (replica.has_mlp()) {
      add_up_mlp(replica, shape, r, sums, parts, out);
      hidden.add_up(sums.hidden_bias, parts, out.d_hidden_bias, r);
    }
  }
  return kKernelDone;
}

}  // namespace

AttentionKernels attention_kernels() {
  return {.serves = serves,
          .query_block = kQueryTile,
          .saved_values = saved_values,
          .forward = forward,
          .backward = backward};
}

}  // namespace che::cpu
