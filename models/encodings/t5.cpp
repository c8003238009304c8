// T5's relative bias (arXiv 1910.10683), bidirectional: a learned scalar per head and bucket of
// r = j - i, added after scaling. A side has 16 buckets, the right one the upper half: |r| < 8 has
// its own, above it is 8 + floor(8 log(|r| / 8) / log(128 / 8)), at most 15.
//
// 8 log(n / 8) / log(16) is 2 log2(n / 8): bucket 8 + k starts where n^2 >= 64 * 2^k. The released
// programs take the logarithm in single precision and find the same buckets.
#include <ATen/ATen.h>

#include "models/encodings/distance.h"
#include "models/encodings/encoding.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

constexpr std::int64_t kSideBuckets = 16;
constexpr std::int64_t kExact = 8;

struct T5Options {
  std::string table = "shared";  // One table for all layers, as released, or one a layer.
  std::string randomized_distance = "per_offset";

  void visit_fields(FieldVisitor& visit) {
    visit.choice(
        {.name = "table", .help = "one table for all layers or one per layer", .hashed_name = "t5_table"},
        table, {"shared", "per_layer"});
    visit_randomized_distance(visit, randomized_distance);
  }
};

// The least distance of each bucket of a side but the first.
std::vector<std::int64_t> bucket_starts() {
  std::vector<std::int64_t> starts;
  for (std::int64_t n = 1; static_cast<std::int64_t>(starts.size()) < kSideBuckets - 1; ++n) {
    const auto doublings = static_cast<std::int64_t>(starts.size()) + 1 - kExact;
    if (n <= kExact || n * n >= (kExact * kExact) << doublings) starts.push_back(n);
  }
  return starts;
}

class T5 : public Encoding {
 public:
  explicit T5(T5Options options) : options_(std::move(options)) {}

  std::vector<ParameterSpec> embedding_parameters(const ModelShape& shape) const override {
    return shared() ? table(shape) : std::vector<ParameterSpec>{};
  }

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    return shared() ? std::vector<ParameterSpec>{} : table(shape);
  }

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const std::int64_t heads = context.shape.heads;
    const PairValues distances = signed_distance(context, options_.randomized_distance);
    const at::Tensor& r = distances.values;
    const at::Tensor starts =
        context.table("t5.starts", [] { return at::tensor(bucket_starts(), at::kLong); });
    const at::Tensor buckets = at::bucketize(r.abs(), starts, /*out_int32=*/false, /*right=*/true) +
                               kSideBuckets * r.gt(0).to(at::kLong);
    const at::Tensor& table_of_layer = (shared() ? context.shared : context.parameters)["table"];
    return PairValues{table_of_layer.view({-1, heads, 2 * kSideBuckets}).index_select(2, buckets.flatten()),
                      distances.by_offset};
  }

 private:
  bool shared() const { return options_.table == "shared"; }

  static std::vector<ParameterSpec> table(const ModelShape& shape) {
    return {{"table", {shape.heads, 2 * kSideBuckets}, Init::normal(0.02)}};
  }

  T5Options options_;
};

const Registered<EncodingEntry> registered{{
    .name = "t5",
    .summary = "learned bias per bucket of the relative position",
    .formula = "b_h[bucket(j - i)], 32 buckets, exact to 8, logarithmic to 128",
    .source = "Raffel et al., arXiv 1910.10683",
    .gives_bias = true,
    .place = 8,
    .colour = "#A2254D",
    .marker = Marker::kTriangle,
    .visit = visit_options<T5Options>,
    .make = make_encoding<T5, T5Options>,
}};

}  // namespace
}  // namespace che
