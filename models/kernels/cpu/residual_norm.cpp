#include <algorithm>
#include <vector>

#include "models/kernels/cpu/kernel_table.h"
#include "models/kernels/cpu/part_sums.h"
#include "models/kernels/cpu/partition.h"
#include "models/kernels/cpu/residual_norm_simd.h"

namespace che::cpu {
namespace {

constexpr std::int64_t kPartsOfReplica = 16;

ResidualNormRows rows_of(const ResidualNormInputs& in, std::int64_t replica, std::int64_t example) {
  const auto vector_of = [&](const float* values) {
    return values == nullptr ? nullptr : values + replica * in.width;
  };
  return {.rows = in.rows,
          .width = in.width,
          .x = in.x.of(replica, example),
          .y = in.y.of(replica, example),
          .y_bias = vector_of(in.y_bias),
          .scale = vector_of(in.scale),
          .offset = vector_of(in.offset),
          .dropout = in.site.dropout.bits(replica, example, in.site.site),
          .first_value = in.site.first_token * in.width,
          .epsilon = in.epsilon};
}

void forward(const ResidualNormInputs& in, const ExampleView<float>& out, const ExampleView<float>& moments) {
  for (std::int64_t r = 0; r < in.replicas; ++r) {
    Partition{in.batch, kPartsOfReplica}.for_each([&](std::int64_t, std::int64_t b) {
      residual_norm_forward(rows_of(in, r, b), out.of(r, b), moments.of(r, b));
    });
  }
}

void backward(const ResidualNormInputs& in, const ExampleView<const float>& moments,
              const ExampleView<const float>& d_out, const ResidualNormGradients& out) {
  const Partition examples{in.batch, kPartsOfReplica};
  for (std::int64_t r = 0; r < in.replicas; ++r) {
    // (parts, {y_bias, scale, offset}, width)
    std::vector<float> sums(static_cast<std::size_t>(examples.count() * 3 * in.width));
    examples.for_each([&](std::int64_t part, std::int64_t b) {
      float* const sum = sums.data() + part * 3 * in.width;
      residual_norm_row_gradients(rows_of(in, r, b), moments.of(r, b), d_out.of(r, b),
                                  {.d_x = out.d_x.of(r, b),
                                   .d_y = out.d_y.of(r, b),
                                   .d_y_bias = sum,
                                   .d_scale = sum + in.width,
                                   .d_offset = sum + 2 * in.width});
    });
    const std::vector<float> total = sum_of_parts(sums, examples.count(), 3 * in.width);
    std::copy_n(total.begin(), in.width, out.d_y_bias + r * in.width);
    std::copy_n(total.begin() + in.width, in.width, out.d_scale + r * in.width);
    std::copy_n(total.begin() + 2 * in.width, in.width, out.d_offset + r * in.width);
  }
}

}  // namespace

ResidualNormForm residual_norm_form() {
  return {.serves = [](std::int64_t, std::int64_t, bool) { return true; },
          .forward = forward,
          .backward = backward};
}

}  // namespace che::cpu
