// Rows of a table by symbol, and the table's gradient: for each symbol the sum of its tokens' rows. ids
// (batch, tokens), table (replicas, symbols, width), out (replicas, batch, tokens, width).
//
// 4 bytes of memory traffic a value of out forward (tables stay in a cache) and backward. Forward, a thread
// copies 8 values. Backward, a block takes 32 columns of one part of a replica's tokens: each of its 8 warps
// has a sum for every symbol and column in shared memory, 1 KiB a symbol for the block, and adds its tokens
// one after the other; then the block adds its warps in order, and a second kernel the parts in order.
#include <algorithm>

#include "models/ops/device/gpu.h"

namespace che::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr std::int64_t kValuesOfThread = 8;
constexpr std::int64_t kMaxParts = 64;
constexpr std::int64_t kRowsOfPart = 64;  // At most, until there are kMaxParts parts.
constexpr std::int64_t kMaxGrid = 65535;

// Rows are the tokens of all examples.
std::int64_t rows_of(const EmbeddingInputs& in) { return in.batch * in.tokens; }
std::int64_t parts_of(const EmbeddingInputs& in) {
  return std::min(kMaxParts, divided_up(rows_of(in), kRowsOfPart));
}
std::int64_t shared_bytes_of(std::int64_t symbols) {
  return symbols * kThreads * static_cast<std::int64_t>(sizeof(float));
}

__device__ __forceinline__ std::int64_t symbol_of(const EmbeddingInputs& in, std::int64_t row) {
  return in.ids[row / in.tokens * in.id_stride + row % in.tokens];
}

__global__ void __launch_bounds__(kThreads)
    copy_rows(EmbeddingInputs in, std::int64_t rows, const float* table, float* out) {
  const std::int64_t replica = blockIdx.y;
  const std::int64_t size = rows * in.width;
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreads * kValuesOfThread + thread_number();
  for (std::int64_t n = 0; n < kValuesOfThread; ++n) {
    const std::int64_t i = first + n * kThreads;
    if (i >= size) return;
    const std::int64_t symbol = symbol_of(in, i / in.width);
    out[replica * size + i] = table[(replica * in.symbols + symbol) * in.width + i % in.width];
  }
}

__global__ void __launch_bounds__(kThreads)
    sum_rows(EmbeddingInputs in, std::int64_t rows, std::int64_t parts, const float* d_out, float* sums) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  float* const of_warps = reinterpret_cast<float*>(shared_bytes);  // (symbols, warps, lanes)
  const int thread = thread_number();
  const int warp = thread / kWarp;
  const int lane = thread % kWarp;
  const std::int64_t column = std::int64_t{blockIdx.x} * kWarp + lane;
  const std::int64_t part = blockIdx.y;
  const std::int64_t replica = blockIdx.z;
  for (std::int64_t symbol = 0; symbol < in.symbols; ++symbol) of_warps[symbol * kThreads + thread] = 0;
  const std::int64_t first = part * rows / parts;
  const std::int64_t end = (part + 1) * rows / parts;
  for (std::int64_t row = first + warp; row < end && column < in.width; row += kWarps) {
    of_warps[symbol_of(in, row) * kThreads + thread] += d_out[(replica * rows + row) * in.width + column];
  }
  __syncthreads();
  if (column >= in.width) return;
  for (std::int64_t symbol = warp; symbol < in.symbols; symbol += kWarps) {
    float total = 0;
    for (int w = 0; w < kWarps; ++w) total += of_warps[symbol * kThreads + w * kWarp + lane];
    sums[((replica * parts + part) * in.symbols + symbol) * in.width + column] = total;
  }
}

__global__ void __launch_bounds__(kSumThreads)
    add_parts(const float* sums, std::int64_t parts, std::int64_t size, float* d_table) {
  const std::int64_t replica = blockIdx.y;
  sum_parts(sums, replica, parts, size, blockIdx.x,
            [&](std::int64_t i, float sum) { d_table[replica * size + i] = sum; });
}

bool serves(std::int64_t replicas, std::int64_t symbols) {
  return replicas <= kMaxGrid && shared_bytes_of(symbols) <= max_shared_bytes();
}

int forward(const KernelCall& call, const EmbeddingInputs& in, const float* table, float* out) {
  if (in.replicas > kMaxGrid) return kKernelNotServed;
  const std::int64_t rows = rows_of(in);
  if (in.replicas == 0 || rows * in.width == 0) return kKernelDone;
  return launch(&copy_rows,
                dim3(blocks(divided_up(rows * in.width, kThreads * kValuesOfThread)), blocks(in.replicas)),
                dim3(kThreads), std::int64_t{0}, call.stream, in, rows, table, out);
}

int backward(const KernelCall& call, const EmbeddingInputs& in, const float* d_out, float* d_table) {
  if (!serves(in.replicas, in.symbols)) return kKernelNotServed;
  const std::int64_t size = in.symbols * in.width;
  if (in.replicas == 0 || size == 0) return kKernelDone;
  const std::int64_t rows = rows_of(in);
  const std::int64_t parts = parts_of(in);
  float* const sums = call.allocate(call.owner, in.replicas * parts * size);
  if (parts > 0) {
    const int error =
        launch(&sum_rows, dim3(blocks(divided_up(in.width, kWarp)), blocks(parts), blocks(in.replicas)),
               dim3(kThreads), shared_bytes_of(in.symbols), call.stream, in, rows, parts, d_out, sums);
    if (error != kKernelDone) return error;
  }
  return launch(&add_parts, dim3(blocks(sum_blocks(size)), blocks(in.replicas)), dim3(kSumThreads), kSumBytes,
                call.stream, static_cast<const float*>(sums), parts, size, d_table);
}

}  // namespace

EmbeddingKernels embedding_kernels() { return {.serves = serves, .forward = forward, .backward = backward}; }

}  // namespace che::gpu
