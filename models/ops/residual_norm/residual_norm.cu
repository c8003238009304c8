// LayerNorm (arXiv 1607.06450) of x + drop(y + y_bias): with z the sum, (z - mean) / sqrt(variance + epsilon)
// scale + offset over the features; z is a second result where it is asked for. x, y (replicas, batch, rows,
// width); the dropout's factors are those of models/ops/dropout/dropout_mask.h, bit by bit.
//
// Forward 12 bytes of memory traffic a value, backward 20, and 30 and 45 operations, most of them Philox's.
//
// A warp takes a row, and a lane of it groups of 8 neighbours, as many as a Philox block has factors for.
// Sums over rows: a warp sums its rows, a block its warps, a second kernel the blocks, in order.
#include <type_traits>

#include "models/ops/device/gpu.h"

namespace che::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kGroup = 8;  // Values of a Philox block.
constexpr std::int64_t kMaxWidth = 2048;
// Blocks of a replica that each sum the gradients of their rows: two for each processor of an H100.
constexpr std::int64_t kMaxParts = 256;

struct Group {
  float values[kGroup];

  __device__ __forceinline__ float& operator[](int i) { return values[i]; }
  __device__ __forceinline__ float operator[](int i) const { return values[i]; }
};

__device__ __forceinline__ Group load_group(const float* from) {
  const float4 first = load4(from);
  const float4 second = load4(from + 4);
  return {{first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w}};
}

// Reads values of a parameter, which may begin at any address.
__device__ __forceinline__ Group load_parameters(const float* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(float4) == 0) return load_group(from);
  Group group;
#pragma unroll
  for (int i = 0; i < kGroup; ++i) group[i] = from[i];
  return group;
}

__device__ __forceinline__ void store_group(float* to, const Group& group) {
  store4(to, make_float4(group[0], group[1], group[2], group[3]));
  store4(to + 4, make_float4(group[4], group[5], group[6], group[7]));
}

// A row of one example.
struct Row {
  std::int64_t example;
  std::int64_t place;   // The place of its first value within the example.
  std::uint32_t block;  // The number of its first Philox block.
  std::uint32_t key[2];
  std::uint32_t counter[2];  // Words 1 and 2, the example and the step.
};

__device__ __forceinline__ Row row_of(const ResidualNormInputs& in, const DropoutOfCall& dropout,
                                      const GpuStep* step, int replica, int at) {
  const int rows = static_cast<int>(in.rows);
  const int example = at / rows;
  const int row = at % rows;
  return {example,
          row * in.width,
          static_cast<std::uint32_t>((dropout.first_token + row) * in.width / kGroup),
          {dropout.keys[replica % kMaxDropoutReplicas][0], dropout.keys[replica % kMaxDropoutReplicas][1]},
          {dropout.first.counter[0] + static_cast<std::uint32_t>(example),
           step == nullptr ? dropout.first.counter[1] : step->dropout}};
}

// Which values of a group dropout keeps, a bit each.
__device__ __forceinline__ unsigned kept_values(const DropoutBits& first, const Row& row, int group) {
  if (first.threshold == 0) return 0xffU;
  const PhiloxBlock bits = philox(row.block + static_cast<std::uint32_t>(group), row.counter[0],
                                  row.counter[1], first.counter[2], row.key[0], row.key[1]);
  unsigned kept = 0;
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const std::uint32_t value = (bits.words[i / 2] >> (16 * (i % 2))) & 0xffffU;
    kept |= value < first.threshold ? 0U : 1U << i;
  }
  return kept;
}

__device__ __forceinline__ float factor_of(const DropoutBits& first, unsigned kept, int i) {
  return (kept >> i & 1U) != 0 ? first.kept : 0.0F;
}

// x + drop(y + y_bias).
__device__ __forceinline__ Group sum_of(const ResidualNormInputs& in, const DropoutBits& first,
                                        const Row& row, int replica, int group, unsigned kept) {
  const std::int64_t at = row.place + group * kGroup;
  const Group x = load_group(example_of(in.x, replica, row.example) + at);
  const Group y = load_group(example_of(in.y, replica, row.example) + at);
  Group bias{};
  if (in.y_bias != nullptr) bias = load_parameters(in.y_bias + replica * in.width + group * kGroup);
  Group sum;
#pragma unroll
  for (int i = 0; i < kGroup; ++i) sum[i] = x[i] + (y[i] + bias[i]) * factor_of(first, kept, i);
  return sum;
}

// kGroups: groups of a lane, or more.
template <int kGroups>
__global__ void __launch_bounds__(kThreads)
    residual_norm_forward_rows(ResidualNormInputs in, DropoutOfCall dropout, const GpuStep* step,
                               ExampleView<float> out, ExampleView<float> moments) {
  const int lane = thread_number() % kWarp;
  const int at = static_cast<int>(blockIdx.x) * kWarps + thread_number() / kWarp;
  if (at >= in.batch * in.rows) return;
  const int replica = static_cast<int>(blockIdx.y);
  const int groups = static_cast<int>(in.width) / kGroup;
  const auto width = static_cast<float>(in.width);
  const Row row = row_of(in, dropout, step, replica, at);
  Group z[kGroups] = {};
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kGroups; ++k) {
    const int group = lane + k * kWarp;
    if (group >= groups) break;
    z[k] = sum_of(in, dropout.first, row, replica, group, kept_values(dropout.first, row, group));
    if (in.sum.data != nullptr) {
      store_group(example_of(in.sum, replica, row.example) + row.place + group * kGroup, z[k]);
    }
#pragma unroll
    for (int i = 0; i < kGroup; ++i) sum += z[k][i];
  }
  const float mean = warp_sum(sum) / width;
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kGroups; ++k) {
    if (lane + k * kWarp >= groups) break;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) squares += (z[k][i] - mean) * (z[k][i] - mean);
  }
  const float inverse = 1 / sqrtf(warp_sum(squares) / width + in.epsilon);
#pragma unroll
  for (int k = 0; k < kGroups; ++k) {
    const int group = lane + k * kWarp;
    if (group >= groups) break;
    const Group scale = load_parameters(in.scale + replica * in.width + group * kGroup);
    const Group offset = load_parameters(in.offset + replica * in.width + group * kGroup);
#pragma unroll
    for (int i = 0; i < kGroup; ++i) z[k][i] = (z[k][i] - mean) * inverse * scale[i] + offset[i];
    store_group(example_of(out, replica, row.example) + row.place + group * kGroup, z[k]);
  }
  if (lane == 0) {
    float* const kept = example_of(moments, replica, row.example) + at % in.rows * 2;
    kept[0] = mean;
    kept[1] = inverse;
  }
}

// sums (replicas, parts, {y_bias, scale, offset}, width): of the block's rows.
template <int kGroups>
__global__ void __launch_bounds__(kThreads)
    residual_norm_backward_rows(ResidualNormInputs in, DropoutOfCall dropout, const GpuStep* step,
                                ExampleView<const float> moments, ExampleView<const float> d_out,
                                ExampleView<float> d_x, ExampleView<float> d_y, int parts, float* sums) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  const int warp = thread_number() / kWarp;
  const int lane = thread_number() % kWarp;
  const int replica = static_cast<int>(blockIdx.y);
  const int groups = static_cast<int>(in.width) / kGroup;
  const auto width = static_cast<float>(in.width);
  // (kWarps, {y_bias, scale, offset}, kGroup, groups): neighbours are of neighbouring lanes.
  float* const shared = reinterpret_cast<float*>(shared_bytes);
  float* const mine = shared + warp * 3 * kGroup * groups;
  for (int i = lane; i < 3 * kGroup * groups; i += kWarp) mine[i] = 0;
  __syncwarp();
  const auto count = static_cast<int>(in.batch * in.rows);
  for (int at = static_cast<int>(blockIdx.x) * kWarps + warp; at < count; at += parts * kWarps) {
    const Row row = row_of(in, dropout, step, replica, at);
    const float* const moment = example_of(moments, replica, row.example) + at % in.rows * 2;
    const float mean = moment[0];
    const float inverse = moment[1];
    const float* const g_row = example_of(d_out, replica, row.example) + row.place;
    Group normal[kGroups] = {};
    unsigned kept[kGroups] = {};
    float sum = 0;
    float product = 0;
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
      const int group = lane + k * kWarp;
      if (group >= groups) break;
      kept[k] = kept_values(dropout.first, row, group);
      normal[k] = sum_of(in, dropout.first, row, replica, group, kept[k]);
      const Group g = load_group(g_row + group * kGroup);
      const Group scale = load_parameters(in.scale + replica * in.width + group * kGroup);
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        normal[k][i] = (normal[k][i] - mean) * inverse;
        mine[(kGroup + i) * groups + group] += g[i] * normal[k][i];
        mine[(2 * kGroup + i) * groups + group] += g[i];
        sum += g[i] * scale[i];
        product += g[i] * scale[i] * normal[k][i];
      }
    }
    const float mean_gradient = warp_sum(sum) / width;
    const float mean_product = warp_sum(product) / width;
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
      const int group = lane + k * kWarp;
      if (group >= groups) break;
      const std::int64_t place = row.place + group * kGroup;
      const Group g = load_group(g_row + group * kGroup);
      const Group scale = load_parameters(in.scale + replica * in.width + group * kGroup);
      Group g_sum{};
      if (in.d_sum.data != nullptr) g_sum = load_group(example_of(in.d_sum, replica, row.example) + place);
      Group d_added;
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        const float d_sum =
            inverse * (g[i] * scale[i] - mean_gradient - normal[k][i] * mean_product) + g_sum[i];
        normal[k][i] = d_sum;
        d_added[i] = d_sum * factor_of(dropout.first, kept[k], i);
        mine[i * groups + group] += d_added[i];
      }
      store_group(example_of(d_x, replica, row.example) + place, normal[k]);
      store_group(example_of(d_y, replica, row.example) + place, d_added);
    }
  }
  __syncthreads();
  float* const to = sums + (std::int64_t{replica} * parts + blockIdx.x) * 3 * in.width;
  for (int i = thread_number(); i < 3 * kGroup * groups; i += kThreads) {
    const int which = i / (kGroup * groups);
    const int feature = i % (kGroup * groups);
    const int place = (which * kGroup + feature % kGroup) * groups + feature / kGroup;
    float total = 0;
    for (int w = 0; w < kWarps; ++w) total += shared[w * 3 * kGroup * groups + place];
    to[i] = total;
  }
}

__global__ void __launch_bounds__(kSumThreads)
    residual_norm_add_up(const float* sums, std::int64_t parts, std::int64_t width,
                         ResidualNormGradients out) {
  const std::int64_t replica = blockIdx.y;
  sum_parts(sums, replica, parts, 3 * width, blockIdx.x, [&](std::int64_t i, float sum) {
    float* const to = i < width ? out.d_y_bias : i < 2 * width ? out.d_scale : out.d_offset;
    to[replica * width + i % width] = sum;
  });
}

std::int64_t backward_bytes(std::int64_t width) { return std::int64_t{4} * kWarps * 3 * width; }

bool serves(std::int64_t replicas, std::int64_t width, bool has_dropout) {
  constexpr std::int64_t kMaxGrid = 65535;
  return width >= 1 && width % kGroup == 0 && width <= kMaxWidth &&
         replicas <= (has_dropout ? kMaxDropoutReplicas : kMaxGrid) &&
         backward_bytes(width) <= max_shared_bytes();
}

bool is_served(const ResidualNormInputs& in) {
  constexpr std::int64_t kMaxRows = std::int64_t{1} << 30;
  return serves(in.replicas, in.width, in.draws.first.threshold != 0) && in.batch * in.rows <= kMaxRows;
}

bool is_empty(const ResidualNormInputs& in) { return in.replicas == 0 || in.batch * in.rows == 0; }

// Calls f with the fewest groups that a lane must have room for, as a type.
template <class F>
int with_groups(std::int64_t width, const F& f) {
  if (width <= kGroup * kWarp) return f(std::integral_constant<int, 1>());
  if (width <= 2 * kGroup * kWarp) return f(std::integral_constant<int, 2>());
  return f(std::integral_constant<int, kMaxWidth / (kGroup * kWarp)>());
}

int forward(const KernelCall& call, const ResidualNormInputs& in, const ExampleView<float>& out,
            const ExampleView<float>& moments) {
  if (!is_served(in)) return kKernelNotServed;
  if (is_empty(in)) return kKernelDone;
  return with_groups(in.width, [&](auto groups) {
    return launch(&residual_norm_forward_rows<decltype(groups)::value>,
                  dim3(blocks(divided_up(in.batch * in.rows, kWarps)), blocks(in.replicas)), dim3(kThreads),
                  std::int64_t{0}, call.stream, in, dropout_of_call(in.draws, in.replicas), call.step, out,
                  moments);
  });
}

int backward(const KernelCall& call, const ResidualNormInputs& in, const ExampleView<const float>& moments,
             const ExampleView<const float>& d_out, const ResidualNormGradients& out) {
  if (!is_served(in)) return kKernelNotServed;
  if (is_empty(in)) return kKernelDone;
  const std::int64_t needed = divided_up(in.batch * in.rows, kWarps);
  const std::int64_t parts = needed < kMaxParts ? needed : kMaxParts;
  float* const sums = call.allocate(call.owner, in.replicas * parts * 3 * in.width);
  const int error = with_groups(in.width, [&](auto groups) {
    return launch(&residual_norm_backward_rows<decltype(groups)::value>,
                  dim3(blocks(parts), blocks(in.replicas)), dim3(kThreads), backward_bytes(in.width),
                  call.stream, in, dropout_of_call(in.draws, in.replicas), call.step, moments, d_out, out.d_x,
                  out.d_y, static_cast<int>(parts), sums);
  });
  if (error != kKernelDone) return error;
  return launch(&residual_norm_add_up, dim3(blocks(sum_blocks(3 * in.width)), blocks(in.replicas)),
                dim3(kSumThreads), kSumBytes, call.stream, static_cast<const float*>(sums), parts, in.width,
                out);
}

}  // namespace

ResidualNormKernels residual_norm_kernels() {
  return {.serves = serves, .forward = forward, .backward = backward};
}

}  // namespace che::gpu
