// LayerNorm (arXiv 1607.06450) of x + drop(y + y_bias): with z the sum, (z - mean) / sqrt(variance + epsilon)
// scale + offset over the features; z is a second result where it is asked for. x, y (replicas, batch, rows,
// width); the dropout's factors are those of models/ops/dropout/dropout_mask.h, bit by bit.
//
// Forward 12 bytes of memory traffic a value, backward 20, and 30 and 45 operations, most of them Philox's.
//
// A warp takes a row. A lane takes the values of whole Philox blocks, 8 neighbours, so that none is drawn
// twice. Sums over rows: a warp sums its rows, a block its warps, a second kernel the blocks, in order.
#include "models/ops/device/gpu.h"

namespace che::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kRowsOfWarp = 8;
constexpr int kRowsOfBlock = kWarps * kRowsOfWarp;
constexpr int kGroup = 8;  // Values of a Philox block.
constexpr std::int64_t kMaxWidth = 2048;

// A row of one example, and which of its values the lane takes.
struct Row {
  const float* x;
  const float* y;
  std::int64_t at;           // The row's place in its replica's (batch, rows).
  std::int64_t first_value;  // The place of its first value in the dropout's example.
  std::uint32_t key[2];
  std::uint32_t counter[2];  // Words 1 and 2, the example and the step.
};

__device__ __forceinline__ Row row_of(const ResidualNormInputs& in, const DropoutOfCall& dropout,
                                      const GpuStep* step, int replica, std::int64_t at) {
  const std::int64_t example = at / in.rows;
  const std::int64_t row = at % in.rows;
  return {example_of(in.x, replica, example) + row * in.width,
          example_of(in.y, replica, example) + row * in.width,
          at,
          (dropout.first_token + row) * in.width,
          {dropout.keys[replica % kMaxDropoutReplicas][0], dropout.keys[replica % kMaxDropoutReplicas][1]},
          {dropout.first.counter[0] + static_cast<std::uint32_t>(example),
           step == nullptr ? dropout.first.counter[1] : step->dropout}};
}

// Calls f(feature, factor of the dropout) for the lane's features of the row.
template <class F>
__device__ __forceinline__ void for_each_value(const ResidualNormInputs& in, const DropoutBits& first,
                                               const Row& row, int lane, const F& f) {
  const int width = static_cast<int>(in.width);
  const int skipped = static_cast<int>(row.first_value % kGroup);
  const auto block0 = static_cast<std::uint32_t>(row.first_value / kGroup);
  for (int group = lane; group * kGroup < width + skipped; group += kWarp) {
    PhiloxBlock bits{};
    if (first.threshold > 0) {
      bits = philox(block0 + static_cast<std::uint32_t>(group), row.counter[0], row.counter[1],
                    first.counter[2], row.key[0], row.key[1]);
    }
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const int feature = group * kGroup + i - skipped;
      const std::uint32_t value = (bits.words[i / 2] >> (16 * (i % 2))) & 0xffffU;
      if (feature >= 0 && feature < width) f(feature, value < first.threshold ? 0.0F : first.kept);
    }
  }
}

// x + drop(y + y_bias), by the lanes that for_each_value() gives its features to.
__device__ __forceinline__ float sum_at(const float* y_bias, const Row& row, int feature, float factor) {
  const float added = row.y[feature] + (y_bias == nullptr ? 0.0F : y_bias[feature]);
  return row.x[feature] + added * factor;
}

__device__ __forceinline__ const float* y_bias_of(const ResidualNormInputs& in, int replica) {
  return in.y_bias == nullptr ? nullptr : in.y_bias + replica * in.width;
}

__global__ void __launch_bounds__(kThreads)
    residual_norm_forward_rows(ResidualNormInputs in, DropoutOfCall dropout, const GpuStep* step,
                               ExampleView<float> out, ExampleView<float> moments) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  const int width = static_cast<int>(in.width);
  const int warp = thread_number() / kWarp;
  const int lane = thread_number() % kWarp;
  float* const z = reinterpret_cast<float*>(shared_bytes) + warp * width;
  const int replica = static_cast<int>(blockIdx.y);
  const float* const y_bias = y_bias_of(in, replica);
  const float* const scale = in.scale + std::int64_t{replica} * width;
  const float* const offset = in.offset + std::int64_t{replica} * width;
  for (int n = 0; n < kRowsOfWarp; ++n) {
    const std::int64_t at = std::int64_t{blockIdx.x} * kRowsOfBlock + n * kWarps + warp;
    if (at >= in.batch * in.rows) break;
    __syncwarp();  // Another row may give a feature to another lane.
    const Row row = row_of(in, dropout, step, replica, at);
    const std::int64_t example = at / in.rows;
    const std::int64_t place = at % in.rows * width;
    float* const kept_sum = in.sum.data == nullptr ? nullptr : example_of(in.sum, replica, example) + place;
    float sum = 0;
    for_each_value(in, dropout.first, row, lane, [&](int f, float factor) {
      z[f] = sum_at(y_bias, row, f, factor);
      if (kept_sum != nullptr) kept_sum[f] = z[f];
      sum += z[f];
    });
    const float mean = warp_sum(sum) / static_cast<float>(width);
    const int skipped = static_cast<int>(row.first_value % kGroup);
    float squares = 0;
    const auto for_each_feature = [&](const auto& f) {
      for (int group = lane; group * kGroup < width + skipped; group += kWarp) {
        for (int feature = max(0, group * kGroup - skipped);
             feature < min(width, (group + 1) * kGroup - skipped); ++feature) {
          f(feature);
        }
      }
    };
    for_each_feature([&](int f) { squares += (z[f] - mean) * (z[f] - mean); });
    const float inverse = 1 / sqrtf(warp_sum(squares) / static_cast<float>(width) + in.epsilon);
    float* const to = example_of(out, replica, example) + place;
    for_each_feature([&](int f) { to[f] = (z[f] - mean) * inverse * scale[f] + offset[f]; });
    if (lane == 0) {
      float* const kept = example_of(moments, replica, example) + at % in.rows * 2;
      kept[0] = mean;
      kept[1] = inverse;
    }
  }
}

// sums (replicas, blocks, {y_bias, scale, offset}, width): of the block's rows.
__global__ void __launch_bounds__(kThreads)
    residual_norm_backward_rows(ResidualNormInputs in, DropoutOfCall dropout, const GpuStep* step,
                                ExampleView<const float> moments, ExampleView<const float> d_out,
                                ExampleView<float> d_x, ExampleView<float> d_y, std::int64_t parts,
                                float* sums) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  const int width = static_cast<int>(in.width);
  const int warp = thread_number() / kWarp;
  const int lane = thread_number() % kWarp;
  float* const shared = reinterpret_cast<float*>(shared_bytes);  // (kWarps, 3, width)
  float* const mine = shared + warp * 3 * width;
  const int replica = static_cast<int>(blockIdx.y);
  const float* const y_bias = y_bias_of(in, replica);
  const float* const scale = in.scale + std::int64_t{replica} * width;
  for (int i = lane; i < 3 * width; i += kWarp) mine[i] = 0;
  for (int n = 0; n < kRowsOfWarp; ++n) {
    const std::int64_t at = std::int64_t{blockIdx.x} * kRowsOfBlock + n * kWarps + warp;
    if (at >= in.batch * in.rows) break;
    __syncwarp();  // Another row may give a feature to another lane.
    const Row row = row_of(in, dropout, step, replica, at);
    const std::int64_t example = at / in.rows;
    const std::int64_t place = at % in.rows * width;
    const float mean = example_of(moments, replica, example)[at % in.rows * 2];
    const float inverse = example_of(moments, replica, example)[at % in.rows * 2 + 1];
    const float* const g = example_of(d_out, replica, example) + place;
    const float* const g_sum =
        in.d_sum.data == nullptr ? nullptr : example_of(in.d_sum, replica, example) + place;
    float* const to_x = example_of(d_x, replica, example) + place;
    float* const to_y = example_of(d_y, replica, example) + place;
    float sum = 0;
    float product = 0;
    for_each_value(in, dropout.first, row, lane, [&](int f, float factor) {
      const float normal = (sum_at(y_bias, row, f, factor) - mean) * inverse;
      const float inner = g[f] * scale[f];
      mine[width + f] += g[f] * normal;
      mine[2 * width + f] += g[f];
      sum += inner;
      product += inner * normal;
      to_x[f] = normal;
      to_y[f] = factor;
    });
    const float mean_gradient = warp_sum(sum) / static_cast<float>(width);
    const float mean_product = warp_sum(product) / static_cast<float>(width);
    const int skipped = static_cast<int>(row.first_value % kGroup);
    for (int group = lane; group * kGroup < width + skipped; group += kWarp) {
      for (int f = max(0, group * kGroup - skipped); f < min(width, (group + 1) * kGroup - skipped); ++f) {
        const float d_sum = inverse * (g[f] * scale[f] - mean_gradient - to_x[f] * mean_product) +
                            (g_sum == nullptr ? 0.0F : g_sum[f]);
        const float d_added = d_sum * to_y[f];
        to_x[f] = d_sum;
        to_y[f] = d_added;
        mine[f] += d_added;
      }
    }
  }
  __syncthreads();
  float* const to = sums + (std::int64_t{replica} * parts + blockIdx.x) * 3 * width;
  for (int i = thread_number(); i < 3 * width; i += kThreads) {
    float total = 0;
    for (int w = 0; w < kWarps; ++w) total += shared[w * 3 * width + i];
    to[i] = total;
  }
}

__global__ void __launch_bounds__(kThreads)
    residual_norm_add_up(const float* sums, std::int64_t parts, std::int64_t width,
                         ResidualNormGradients out) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + thread_number();
  if (i >= 3 * width) return;
  const std::int64_t replica = blockIdx.y;
  float* const to = i < width ? out.d_y_bias : i < 2 * width ? out.d_scale : out.d_offset;
  to[replica * width + i % width] = sum_of_parts(sums, replica, parts, 3 * width, i);
}

// Shared memory of a block: `rows` for each warp.
std::int64_t bytes_of_rows(std::int64_t rows, std::int64_t width) {
  return std::int64_t{4} * kWarps * rows * width;
}
constexpr std::int64_t kForwardRows = 1;
constexpr std::int64_t kBackwardRows = 3;

bool serves(std::int64_t replicas, std::int64_t width, bool has_dropout) {
  constexpr std::int64_t kMaxGrid = 65535;
  return width >= 1 && width <= kMaxWidth && replicas <= (has_dropout ? kMaxDropoutReplicas : kMaxGrid) &&
         bytes_of_rows(kBackwardRows, width) <= max_shared_bytes();
}

bool is_served(const ResidualNormInputs& in) {
  return serves(in.replicas, in.width, in.draws.first.threshold != 0);
}

bool is_empty(const ResidualNormInputs& in) { return in.replicas == 0 || in.batch * in.rows == 0; }

std::int64_t parts_of(const ResidualNormInputs& in) { return divided_up(in.batch * in.rows, kRowsOfBlock); }

int forward(const KernelCall& call, const ResidualNormInputs& in, const ExampleView<float>& out,
            const ExampleView<float>& moments) {
  if (!is_served(in)) return kKernelNotServed;
  if (is_empty(in)) return kKernelDone;
  return launch(&residual_norm_forward_rows, dim3(blocks(parts_of(in)), blocks(in.replicas)), dim3(kThreads),
                bytes_of_rows(kForwardRows, in.width), call.stream, in,
                dropout_of_call(in.draws, in.replicas), call.step, out, moments);
}

int backward(const KernelCall& call, const ResidualNormInputs& in, const ExampleView<const float>& moments,
             const ExampleView<const float>& d_out, const ResidualNormGradients& out) {
  if (!is_served(in)) return kKernelNotServed;
  if (is_empty(in)) return kKernelDone;
  const std::int64_t parts = parts_of(in);
  float* const sums = call.allocate(call.owner, in.replicas * parts * 3 * in.width);
  const int error =
      launch(&residual_norm_backward_rows, dim3(blocks(parts), blocks(in.replicas)), dim3(kThreads),
             bytes_of_rows(kBackwardRows, in.width), call.stream, in, dropout_of_call(in.draws, in.replicas),
             call.step, moments, d_out, out.d_x, out.d_y, parts, sums);
  if (error != kKernelDone) return error;
  return launch(&residual_norm_add_up, dim3(blocks(divided_up(3 * in.width, kThreads)), blocks(in.replicas)),
                dim3(kThreads), std::int64_t{0}, call.stream, static_cast<const float*>(sums), parts,
                in.width, out);
}

}  // namespace

ResidualNormKernels residual_norm_kernels() {
  return {.serves = serves, .forward = forward, .backward = backward};
}

}  // namespace che::gpu
