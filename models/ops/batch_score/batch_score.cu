// The mean cross entropy of logits in nats, how many of them are right, and the gradient of the mean: softmax
// minus 1 at the target, over the number of rows. logits (replicas, rows, classes).
//
// 4 bytes of memory traffic a logit forward, 8 backward, which computes the softmax again. A thread takes a
// row at a time: forward 4 of the 1024 that a block has, backward one. Sums over rows are in double
// precision, and a second kernel adds up the blocks in order. There is at least one class.
#include "models/ops/device/gpu.h"

namespace che::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr std::int64_t kRowsOfBlock = 1024;
constexpr std::int64_t kMaxGrid = 65535;
constexpr std::int64_t kSharedBytes = 2 * kWarps * sizeof(double);

std::int64_t parts_of(const BatchScoreInputs& in) { return divided_up(in.rows, kRowsOfBlock); }

struct Sums {
  double loss;
  double correct;
};

// Sums the values of a block's threads; thread 0 has the result.
__device__ __forceinline__ Sums block_sums(const Sums& mine, double* of_warps) {
  const int thread = thread_number();
  const Sums sums{warp_sum(mine.loss), warp_sum(mine.correct)};
  if (thread % kWarp == 0) {
    of_warps[thread / kWarp] = sums.loss;
    of_warps[kWarps + thread / kWarp] = sums.correct;
  }
  __syncthreads();
  Sums total{0, 0};
  if (thread == 0) {
    for (int w = 0; w < kWarps; ++w) {
      total.loss += of_warps[w];
      total.correct += of_warps[kWarps + w];
    }
  }
  return total;
}

// The softmax of one row's logits.
struct Softmax {
  std::int64_t best;  // The first of the largest ones; NaN is larger than any number.
  float largest;
  float sum;  // The sum of exp(logit - largest).
};

__device__ __forceinline__ Softmax softmax_of(const float* logits, std::int64_t classes) {
  Softmax of{0, logits[0], 0};
  for (std::int64_t c = 1; c < classes; ++c) {
    // Nothing is larger than NaN, and what is not at most a number is larger or NaN.
    if (of.largest == of.largest && !(logits[c] <= of.largest)) {
      of.best = c;
      of.largest = logits[c];
    }
  }
  for (std::int64_t c = 0; c < classes; ++c) of.sum += expf(logits[c] - of.largest);
  return of;
}

__global__ void __launch_bounds__(kThreads) score_rows(BatchScoreInputs in, std::int64_t parts, Sums* sums) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  const std::int64_t replica = blockIdx.y;
  const std::int64_t first = std::int64_t{blockIdx.x} * kRowsOfBlock;
  const std::int64_t end = min(in.rows, first + kRowsOfBlock);
  Sums mine{0, 0};
  for (std::int64_t row = first + thread_number(); row < end; row += kThreads) {
    const float* const logits = in.logits + (replica * in.rows + row) * in.classes;
    const Softmax softmax = softmax_of(logits, in.classes);
    const std::int64_t target = in.targets[row];
    mine.loss += logf(softmax.sum) - (logits[target] - softmax.largest);
    mine.correct += in.mask[row] != 0 && softmax.best == target ? 1 : 0;
  }
  const Sums total = block_sums(mine, reinterpret_cast<double*>(shared_bytes));
  if (thread_number() == 0) sums[replica * parts + blockIdx.x] = total;
}

__global__ void __launch_bounds__(kThreads)
    add_scores(const Sums* sums, std::int64_t parts, std::int64_t rows, float* losses,
               std::int64_t* correct) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  const std::int64_t replica = blockIdx.x;
  Sums mine{0, 0};
  for (std::int64_t part = thread_number(); part < parts; part += kThreads) {
    mine.loss += sums[replica * parts + part].loss;
    mine.correct += sums[replica * parts + part].correct;
  }
  const Sums total = block_sums(mine, reinterpret_cast<double*>(shared_bytes));
  if (thread_number() != 0) return;
  losses[replica] = static_cast<float>(total.loss / static_cast<double>(rows));
  correct[replica] = static_cast<std::int64_t>(total.correct);
}

__global__ void __launch_bounds__(kThreads)
    score_gradient(BatchScoreInputs in, const float* d_losses, float* d_logits) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + thread_number();
  const std::int64_t replica = blockIdx.y;
  if (row >= in.rows) return;
  const std::int64_t start = (replica * in.rows + row) * in.classes;
  const float* const logits = in.logits + start;
  const Softmax softmax = softmax_of(logits, in.classes);
  const float scale = d_losses[replica] / static_cast<float>(in.rows);
  const std::int64_t target = in.targets[row];
  for (std::int64_t c = 0; c < in.classes; ++c) {
    const float share = expf(logits[c] - softmax.largest) / softmax.sum;
    d_logits[start + c] = scale * (c == target ? share - 1 : share);
  }
}

bool serves(std::int64_t replicas) { return replicas <= kMaxGrid; }

int forward(const KernelCall& call, const BatchScoreInputs& in, float* losses, std::int64_t* correct) {
  if (in.replicas > kMaxGrid) return kKernelNotServed;
  if (in.replicas == 0) return kKernelDone;
  const std::int64_t parts = parts_of(in);
  constexpr std::int64_t kFloats = sizeof(Sums) / sizeof(float);
  Sums* const sums = reinterpret_cast<Sums*>(call.allocate(call.owner, kFloats * in.replicas * parts));
  if (parts > 0) {
    const int error = launch(&score_rows, dim3(blocks(parts), blocks(in.replicas)), dim3(kThreads),
                             kSharedBytes, call.stream, in, parts, sums);
    if (error != kKernelDone) return error;
  }
  return launch(&add_scores, dim3(blocks(in.replicas)), dim3(kThreads), kSharedBytes, call.stream,
                static_cast<const Sums*>(sums), parts, in.rows, losses, correct);
}

int backward(const KernelCall& call, const BatchScoreInputs& in, const float* d_losses, float* d_logits) {
  if (in.replicas > kMaxGrid) return kKernelNotServed;
  if (in.replicas == 0 || in.rows == 0) return kKernelDone;
  return launch(&score_gradient, dim3(blocks(divided_up(in.rows, kThreads)), blocks(in.replicas)),
                dim3(kThreads), std::int64_t{0}, call.stream, in, d_losses, d_logits);
}

}  // namespace

BatchScoreKernels batch_score_kernels() {
  return {.serves = serves, .forward = forward, .backward = backward};
}

}  // namespace che::gpu
