#include <algorithm>

#include "models/kernels/cpu/bias_relu_simd.h"
#include "models/kernels/cpu/kernel_table.h"
#include "models/kernels/cpu/partition.h"

namespace che::cpu {
namespace {

constexpr std::int64_t kBlockRows = 1024;
constexpr std::int64_t kPartsOfBlock = 8;

// Calls f(replica, part, first, count) for parts of a block's rows.
template <class F>
void for_each_rows(const HiddenRows& block, const F& f) {
  constexpr std::int64_t kRows = kBlockRows / kPartsOfBlock;
  const std::int64_t parts = (block.rows + kRows - 1) / kRows;
  Partition{block.replicas * parts, block.replicas * parts}.for_each([&](std::int64_t, std::int64_t item) {
    const std::int64_t first = item % parts * kRows;
    f(item / parts, item % parts, first, std::min(kRows, block.rows - first));
  });
}

void forward(const HiddenRows& values, const float* bias) {
  for_each_rows(values, [&](std::int64_t replica, std::int64_t, std::int64_t first, std::int64_t count) {
    add_bias_relu(values.row(replica, first), bias + replica * values.width, count, values.width);
  });
}

void backward(const HiddenRows& gradient, const HiddenRows& activation, float* d_bias) {
  const std::int64_t width = gradient.width;
  for_each_rows(gradient,
                [&](std::int64_t replica, std::int64_t part, std::int64_t first, std::int64_t count) {
                  relu_gradient(gradient.row(replica, first), activation.row(replica, first),
                                d_bias + (replica * kPartsOfBlock + part) * width, count, width);
                });
}

}  // namespace

BiasReluForm bias_relu_form() {
  return {.block_rows = kBlockRows, .partial_sums = kPartsOfBlock, .forward = forward, .backward = backward};
}

}  // namespace che::cpu
