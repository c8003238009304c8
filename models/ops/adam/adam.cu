// The norm of each replica's gradients, and update number n by Adam (arXiv 1412.6980) of gradients g that are
// scaled down to a norm of at most clip_norm:
//
//   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
//   value -= rate / (1 - beta1^n) m / (sqrt(v / (1 - beta2^n)) + epsilon).
//
// Everything is (replicas, size). 4 bytes of memory traffic a value for the norms, 28 for the update. Norms
// and rates stay on the device. A block sums the squares of 8192 values, a thread 32 of them in single
// precision, the rest in double; a second kernel adds up the blocks in order.
#include "models/ops/device/gpu.h"

namespace che::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr std::int64_t kValuesOfThread = 32;
constexpr std::int64_t kValuesOfBlock = kThreads * kValuesOfThread;
constexpr std::int64_t kMaxGrid = 65535;

std::int64_t parts_of(std::int64_t size) { return divided_up(size, kValuesOfBlock); }

// Sums the values of a block's threads; thread 0 has the result.
__device__ __forceinline__ double block_sum(double value, double* of_warps) {
  const int thread = thread_number();
  const double sum = warp_sum(value);
  if (thread % kWarp == 0) of_warps[thread / kWarp] = sum;
  __syncthreads();
  double total = 0;
  if (thread == 0) {
    for (int w = 0; w < kWarps; ++w) total += of_warps[w];
  }
  return total;
}

__global__ void __launch_bounds__(kThreads)
    sums_of_squares(const float* gradients, std::int64_t size, std::int64_t parts, double* sums) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  const std::int64_t replica = blockIdx.y;
  const std::int64_t first = std::int64_t{blockIdx.x} * kValuesOfBlock;
  const std::int64_t end = min(size, first + kValuesOfBlock);
  float squares = 0;
  for (std::int64_t i = first + thread_number(); i < end; i += kThreads) {
    const float x = gradients[replica * size + i];
    squares += x * x;
  }
  const double total = block_sum(squares, reinterpret_cast<double*>(shared_bytes));
  if (thread_number() == 0) sums[replica * parts + blockIdx.x] = total;
}

__global__ void __launch_bounds__(kThreads)
    norms_of_sums(const double* sums, std::int64_t parts, float* norms) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  const std::int64_t replica = blockIdx.x;
  double mine = 0;
  for (std::int64_t part = thread_number(); part < parts; part += kThreads)
    mine += sums[replica * parts + part];
  const double total = block_sum(mine, reinterpret_cast<double*>(shared_bytes));
  if (thread_number() == 0) norms[replica] = static_cast<float>(sqrt(total));
}

struct AdamFactors {
  float beta1;
  float beta2;
  float rest1;  // 1 - beta1
  float rest2;  // 1 - beta2
  float epsilon;
  double clip_norm;
  GpuStep step;
};

__global__ void __launch_bounds__(kThreads)
    update_values(AdamOperands operands, AdamFactors factors, const GpuStep* step) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  float* const shared =
      reinterpret_cast<float*>(shared_bytes);  // The gradients' scale, the rate, second_scale.
  const std::int64_t replica = blockIdx.y;
  if (thread_number() == 0) {
    const double norm = operands.norms[replica];
    // A norm that is no number is smaller than none.
    const double clipped = norm < factors.clip_norm ? factors.clip_norm : norm;
    shared[0] = static_cast<float>(factors.clip_norm / clipped);
    // Value by value: a reference to either would need the parameter in memory.
    const double rate_scale = step == nullptr ? factors.step.rate_scale : step->rate_scale;
    shared[1] = static_cast<float>(operands.learning_rates[replica] * rate_scale);
    shared[2] = step == nullptr ? factors.step.second_scale : step->second_scale;
  }
  __syncthreads();
  const float gradient_scale = shared[0];
  const float rate = shared[1];
  const float second_scale = shared[2];
  const std::int64_t first = std::int64_t{blockIdx.x} * kValuesOfBlock;
  const std::int64_t end = min(operands.size, first + kValuesOfBlock);
  for (std::int64_t n = first + thread_number(); n < end; n += kThreads) {
    const std::int64_t i = replica * operands.size + n;
    const float gradient = operands.gradients[i] * gradient_scale;
    const float m = operands.first_moment[i] * factors.beta1 + gradient * factors.rest1;
    const float v = operands.second_moment[i] * factors.beta2 + gradient * gradient * factors.rest2;
    operands.first_moment[i] = m;
    operands.second_moment[i] = v;
    operands.values[replica * operands.value_stride + n] -=
        m * rate / (sqrtf(v * second_scale) + factors.epsilon);
  }
}

int norms(const KernelCall& call, std::int64_t replicas, std::int64_t size, const float* gradients,
          float* norms) {
  if (replicas > kMaxGrid) return kKernelNotServed;
  if (replicas == 0) return kKernelDone;
  const std::int64_t parts = parts_of(size);
  constexpr std::int64_t kBytes = kWarps * sizeof(double);
  double* const sums = reinterpret_cast<double*>(call.allocate(call.owner, 2 * replicas * parts));
  if (parts > 0) {
    const int error = launch(&sums_of_squares, dim3(blocks(parts), blocks(replicas)), dim3(kThreads), kBytes,
                             call.stream, gradients, size, parts, sums);
    if (error != kKernelDone) return error;
  }
  return launch(&norms_of_sums, dim3(blocks(replicas)), dim3(kThreads), kBytes, call.stream,
                static_cast<const double*>(sums), parts, norms);
}

int update(const KernelCall& call, const AdamOperands& operands, const AdamSettings& settings) {
  if (operands.replicas > kMaxGrid) return kKernelNotServed;
  if (operands.replicas == 0 || operands.size == 0) return kKernelDone;
  const AdamFactors factors{
      static_cast<float>(settings.beta1),
      static_cast<float>(settings.beta2),
      static_cast<float>(1 - settings.beta1),
      static_cast<float>(1 - settings.beta2),
      static_cast<float>(settings.epsilon),
      settings.clip_norm,
      gpu_step(0, settings),
  };
  return launch(&update_values, dim3(blocks(parts_of(operands.size)), blocks(operands.replicas)),
                dim3(kThreads), std::int64_t{3 * sizeof(float)}, call.stream, operands, factors, call.step);
}

}  // namespace

AdamKernels adam_kernels() { return {.norms = norms, .update = update}; }

}  // namespace che::gpu
