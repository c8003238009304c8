#include "models/encodings/t5.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"

namespace che {
namespace {

constexpr std::int64_t kSideBuckets = 16;
constexpr std::int64_t kExact = 8;

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
  explicit T5(T5Options options) : options_(options) {}

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
  bool shared() const { return options_.table == T5Table::kShared; }

  static std::vector<ParameterSpec> table(const ModelShape& shape) {
    return {{"table", {shape.heads, 2 * kSideBuckets}, Init::normal(0.02)}};
  }

  T5Options options_;
};

const Registered<EncodingMaker> t5_maker{{"t5", make_encoding<T5, T5Options>}};

}  // namespace
}  // namespace che
