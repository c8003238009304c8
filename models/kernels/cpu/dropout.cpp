#include <span>

#include "models/kernels/cpu/kernel_table.h"
#include "models/kernels/cpu/partition.h"

namespace che::cpu {
namespace {

constexpr std::int64_t kMaxParts = 64;

void apply(const DropoutInputs& in, float* out) {
  const Dropout& dropout = in.site.dropout;
  const std::int64_t per_example = in.rows * in.width;
  const auto first_index = static_cast<std::uint64_t>(in.site.first_token * in.width);
  Partition{in.replicas * in.batch, kMaxParts}.for_each([&](std::int64_t, std::int64_t example) {
    const auto replica = static_cast<std::size_t>(example / in.batch);
    const std::int64_t row = example % in.batch;
    float* const to = out + example * per_example;
    const float* const from = in.values + example * per_example;
    dropout_factors(dropout.rate, static_cast<std::uint64_t>(dropout.seeds[replica]), dropout.purpose,
                    dropout.step, dropout.first_example + static_cast<std::uint64_t>(row), in.site.site,
                    first_index, {to, static_cast<std::size_t>(per_example)});
    for (std::int64_t i = 0; i < per_example; ++i) to[i] *= from[i];
  });
}

}  // namespace

DropoutForm dropout_form() {
  return {.serves = [](std::int64_t, std::int64_t) { return true; }, .apply = apply};
}

}  // namespace che::cpu
