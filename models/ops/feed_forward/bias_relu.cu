// max(values + bias, 0) in place, and its gradient: that of the values is 0 where the activation is, that of
// the bias is its sum over the rows. values (replicas, rows, width), bias (replicas, width).
//
// 8 bytes of memory traffic a value forward, 12 backward; 2 operations. Forward, a thread takes a column of 8
// rows; backward, a block takes 32 columns of one of 64 parts of the rows, and adds the sums of its 8 warps
// in order.
#include "models/ops/device/gpu.h"

namespace che::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr std::int64_t kRowsOfThread = 8;
constexpr std::int64_t kParts = 64;  // Parts of a replica's rows; a part is summed row by row.
// The products take whole batches: a block of rows in a cache is a CPU's concern.
constexpr std::int64_t kAllRows = std::int64_t{1} << 40;

__device__ __forceinline__ float* row_of(const HiddenRows& rows, std::int64_t replica, std::int64_t row) {
  return rows.data + replica * rows.replica_stride + row * rows.width;
}

__global__ void __launch_bounds__(kThreads) add_bias_relu(HiddenRows values, const float* bias) {
  const std::int64_t column = std::int64_t{blockIdx.y} * kThreads + thread_number();
  const std::int64_t replica = blockIdx.z;
  if (column >= values.width) return;
  const float added = bias[replica * values.width + column];
  const std::int64_t first = std::int64_t{blockIdx.x} * kRowsOfThread;
  const std::int64_t end = min(values.rows, first + kRowsOfThread);
  for (std::int64_t row = first; row < end; ++row) {
    float* const value = row_of(values, replica, row) + column;
    const float sum = *value + added;
    *value = sum < 0 ? 0 : sum;  // Not fmaxf, which loses what is no number.
  }
}

__global__ void __launch_bounds__(kThreads)
    relu_gradient(HiddenRows gradient, HiddenRows activation, float* d_bias) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  float* const sums = reinterpret_cast<float*>(shared_bytes);  // (kWarps, columns)
  const int warp = thread_number() / kWarp;
  const int lane = thread_number() % kWarp;
  const std::int64_t column = std::int64_t{blockIdx.x} * kWarp + lane;
  const std::int64_t part = blockIdx.y;
  const std::int64_t replica = blockIdx.z;
  const std::int64_t first = part * gradient.rows / kParts;
  const std::int64_t end = (part + 1) * gradient.rows / kParts;
  float sum = 0;
  for (std::int64_t row = first + warp; row < end && column < gradient.width; row += kWarps) {
    float* const value = row_of(gradient, replica, row) + column;
    const float masked = row_of(activation, replica, row)[column] <= 0 ? 0 : *value;
    *value = masked;
    sum += masked;
  }
  sums[warp * kWarp + lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= gradient.width) return;
  float total = 0;
  for (int w = 0; w < kWarps; ++w) total += sums[w * kWarp + lane];
  d_bias[(replica * kParts + part) * gradient.width + column] += total;
}

bool serves(const HiddenRows& rows) {
  constexpr std::int64_t kMaxGrid = 65535;
  return rows.replicas <= kMaxGrid && divided_up(rows.width, kThreads) <= kMaxGrid;
}

bool is_empty(const HiddenRows& rows) { return rows.replicas == 0 || rows.rows == 0 || rows.width == 0; }

int forward(const KernelCall& call, const HiddenRows& values, const float* bias) {
  if (!serves(values)) return kKernelNotServed;
  if (is_empty(values)) return kKernelDone;
  return launch(&add_bias_relu,
                dim3(blocks(divided_up(values.rows, kRowsOfThread)),
                     blocks(divided_up(values.width, kThreads)), blocks(values.replicas)),
                dim3(kThreads), std::int64_t{0}, call.stream, values, bias);
}

int backward(const KernelCall& call, const HiddenRows& gradient, const HiddenRows& activation,
             float* d_bias) {
  if (!serves(gradient)) return kKernelNotServed;
  if (is_empty(gradient)) return kKernelDone;
  return launch(&relu_gradient,
                dim3(blocks(divided_up(gradient.width, kWarp)), blocks(kParts), blocks(gradient.replicas)),
                dim3(kThreads), std::int64_t{4} * kThreads, call.stream, gradient, activation, d_bias);
}

}  // namespace

BiasReluKernels bias_relu_kernels() {
  return {.block_rows = kAllRows, .partial_sums = kParts, .forward = forward, .backward = backward};
}

}  // namespace che::gpu
