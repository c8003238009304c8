#include "models/encodings/t5.h"

#include <ATen/ATen.h>

#include <cmath>

#include "models/encodings/encoding.h"

namespace che {
namespace {

constexpr std::int64_t kBuckets = 32;
constexpr double kLargest = 128;

std::int64_t buckets_of_side(const ModelShape& shape) { return shape.causal ? kBuckets : kBuckets / 2; }

// The least distance of each of the buckets of a side but the first. Powers of two are exact, and every other
// start is far from a whole number.
std::vector<std::int64_t> bucket_starts(std::int64_t buckets) {
  const std::int64_t exact = buckets / 2;
  std::vector<std::int64_t> starts;
  for (std::int64_t n = 1; n <= exact; ++n) starts.push_back(n);
  const auto first = static_cast<double>(exact);
  for (std::int64_t k = 1; k < exact; ++k) {
    const double power = std::log2(kLargest / first) * static_cast<double>(k) / first;
    starts.push_back(static_cast<std::int64_t>(std::ceil(first * std::exp2(power))));
  }
  return starts;
}

struct T5 : Encoding {
  T5Options options;

  std::vector<ParameterSpec> embedding_parameters(const ModelShape& shape) const override {
    return shared() ? table(shape) : std::vector<ParameterSpec>{};
  }

  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override {
    return shared() ? std::vector<ParameterSpec>{} : table(shape);
  }

  AttentionTerms attention_terms(const EncodingContext& context) const override {
    const std::int64_t heads = context.shape.heads;
    const std::int64_t side = buckets_of_side(context.shape);
    const PairValues distances = signed_distance(context, options.randomized_distance);
    const at::Tensor& r = distances.values;
    const at::Tensor buckets = context.computed_table("t5", [&] {
      const at::Tensor starts =
          context.table("t5.starts", [side] { return at::tensor(bucket_starts(side), at::kLong); });
      const at::Tensor of_side = at::bucketize(r.abs(), starts, /*out_int32=*/false, /*right=*/true);
      return context.shape.causal ? of_side : of_side + side * r.gt(0).to(at::kLong);
    });
    const at::Tensor& table_of_layer = (shared() ? context.shared : context.parameters)["table"];
    const at::Tensor scaled =
        scaled_by_head() ? table_of_layer * std::sqrt(static_cast<double>(context.shape.head_width()))
                         : table_of_layer;
    return PairValues{scaled.view({-1, heads, kBuckets}).index_select(2, buckets.flatten()),
                      distances.by_offset};
  }

 private:
  bool shared() const { return options.table == T5Table::kShared; }

  bool scaled_by_head() const { return options.scale == T5Scale::kSqrtHead; }

  std::vector<ParameterSpec> table(const ModelShape& shape) const {
    const double sigma = scaled_by_head() ? std::sqrt(2 / static_cast<double>(kBuckets + shape.heads)) : 0.02;
    return {{"table", {shape.heads, kBuckets}, Init::normal(sigma)}};
  }
};

const Registered<EncodingMaker> t5_maker{{"t5", make_encoding<T5>}};

}  // namespace
}  // namespace che
