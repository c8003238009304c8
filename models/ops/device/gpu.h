// One source, two builds. nvcc: CUDA. Any host compiler with CHE_EMULATE_GPU: the same kernels run on the CPU
// by an emulation that tests bring. Kernels use what this header offers and nothing else of CUDA.
#pragma once

#include <cstdint>

#include "models/ops/device/kernel_table.h"

#ifdef CHE_EMULATE_GPU
#include <emulated_gpu.h>
#else
#include <cuda_runtime.h>

#define CHE_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]

namespace che::gpu {

// Returns the answer of a kernel for `error`. CUDA keeps an error, but for a fault, until it is asked for the
// last one; whoever checks next, LibTorch too, would find it.
inline int reported(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return error;
}

// The most shared memory that a block of the current device may have; 0 without a device.
inline std::int64_t max_shared_bytes() {
  int device = 0;
  int bytes = 0;
  if (reported(cudaGetDevice(&device)) != cudaSuccess ||
      reported(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) !=
          cudaSuccess) {
    return 0;
  }
  return bytes;
}

// CudaLibrary::describe_device.
inline int describe_device(std::int32_t number, CudaDevice* device) {
  cudaDeviceProp properties;
  if (const int error = reported(cudaGetDeviceProperties(&properties, number)); error != cudaSuccess)
    return error;
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    return reported(cudaDeviceGetAttribute(&value, which, number)) == cudaSuccess ? static_cast<double>(value)
                                                                                  : 0.0;
  };
  *device = {};
  for (std::size_t i = 0; i + 1 < sizeof(device->name) && properties.name[i] != 0; ++i) {
    device->name[i] = properties.name[i];
  }
  device->compute_capability = 10 * properties.major + properties.minor;
  device->multiprocessors = properties.multiProcessorCount;
  reported(cudaDriverGetVersion(&device->driver_version));
  reported(cudaRuntimeGetVersion(&device->runtime_version));
  device->memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  device->shared_bytes = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  // Clocks are in kHz; memory sends at both edges.
  device->memory_rate =
      2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
  const double lanes = properties.major == 8 && properties.minor == 0 ? 64 : 128;
  device->multiply_add_rate = 2e3 * attribute(cudaDevAttrClockRate) * device->multiprocessors * lanes;
  return 0;
}

inline int wait() { return reported(cudaDeviceSynchronize()); }

inline const char* error_text(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

// Returns CUDA's error, 0 for none.
template <class... Parameters, class... Arguments>
int launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::int64_t shared_bytes, void* stream,
           const Arguments&... arguments) {
  constexpr std::int64_t kWithoutAsking = 48 * 1024;
  if (shared_bytes > kWithoutAsking) {
    const auto* const function = reinterpret_cast<const void*>(kernel);
    cudaError_t error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(shared_bytes));
    // Else the driver may leave so much of it to the cache that only one block fits.
    if (error == cudaSuccess) {
      error = cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared);
    }
    if (error != cudaSuccess) return reported(error);
  }
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = static_cast<cudaStream_t>(stream);
  return reported(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

// d (16, 8) += a (16, 8) b (8, 8) in TF32 on a warp's tensor cores. Operands are to_tf32()'s.
__device__ __forceinline__ void mma_tf32(float (&d)[4], const float (&a)[4], const float (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
        "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

__device__ __forceinline__ float to_tf32(float x) {
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

}  // namespace che::gpu
#endif

namespace che::gpu {

constexpr int kWarp = 32;

// The sum of the values of a warp's lanes; all lanes have it.
template <class Value>
__device__ __forceinline__ Value warp_sum(Value x) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) x += __shfl_xor_sync(0xffffffffU, x, lanes);
  return x;
}

// The largest of the values of a warp's lanes, NaN left out.
__device__ __forceinline__ float warp_max(float x) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, lanes));
  return x;
}

__device__ __forceinline__ int thread_number() { return static_cast<int>(threadIdx.x); }

inline unsigned blocks(std::int64_t count) { return static_cast<unsigned>(count); }

inline std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

template <class Value>
__device__ __forceinline__ Value* example_of(const ExampleView<Value>& view, std::int64_t replica,
                                             std::int64_t example) {
  return view.data + replica * view.replica_stride + example * view.example_stride;
}

__device__ __forceinline__ float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ __forceinline__ void store4(float* p, const float4& value) {
  *reinterpret_cast<float4*>(p) = value;
}

__device__ __forceinline__ float2 load2(const float* p) { return *reinterpret_cast<const float2*>(p); }
__device__ __forceinline__ void store2(float* p, float first, float second) {
  *reinterpret_cast<float2*>(p) = make_float2(first, second);
}

constexpr int kSumThreads = 256;
constexpr std::int64_t kSumBytes = 4 * kSumThreads;  // Dynamic shared memory of a block.

// Calls f(i, sum) with the sum over the parts of value i of values (replicas, parts, size), for the 32 values
// of this `block`. A warp sums every eighth part, and the first warp what all of them have, in order.
template <class F>
__device__ __forceinline__ void sum_parts(const float* values, std::int64_t replica, std::int64_t parts,
                                          std::int64_t size, std::int64_t block, const F& f) {
  CHE_DYNAMIC_SHARED(shared_bytes);
  constexpr int kWarps = kSumThreads / kWarp;
  float* const sums = reinterpret_cast<float*>(shared_bytes);  // (kWarps, kWarp)
  const int warp = thread_number() / kWarp;
  const std::int64_t i = block * kWarp + thread_number() % kWarp;
  if (i < size) {
    const float* const first = values + replica * parts * size + i;
    float sum = 0;
#pragma unroll 4  // Reads that wait for memory together.
    for (std::int64_t part = warp; part < parts; part += kWarps) sum += first[part * size];
    sums[thread_number()] = sum;
  }
  __syncthreads();
  if (warp > 0 || i >= size) return;
  float sum = sums[thread_number()];
  for (int w = 1; w < kWarps; ++w) sum += sums[w * kWarp + thread_number()];
  f(i, sum);
}

// Blocks for `size` values.
inline std::int64_t sum_blocks(std::int64_t size) { return divided_up(size, kWarp); }

struct PhiloxBlock {
  std::uint32_t words[4];
};

// Philox4x32-10 (Salmon et al., SC 2011), as core/random.h's RandomStream has it.
__device__ __forceinline__ PhiloxBlock philox(std::uint32_t c0, std::uint32_t c1, std::uint32_t c2,
                                              std::uint32_t c3, std::uint32_t key0, std::uint32_t key1) {
  constexpr std::uint32_t kFactor0 = 0xD2511F53U;
  constexpr std::uint32_t kFactor1 = 0xCD9E8D57U;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t high0 = __umulhi(kFactor0, c0);
    const std::uint32_t low0 = kFactor0 * c0;
    const std::uint32_t high1 = __umulhi(kFactor1, c2);
    const std::uint32_t low1 = kFactor1 * c2;
    c0 = high1 ^ c1 ^ key0;
    c1 = low1;
    c2 = high0 ^ c3 ^ key1;
    c3 = low0;
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return {{c0, c1, c2, c3}};
}

// The dropout of one call as kernels take it, by value: each replica's key with what the keys share.
struct DropoutOfCall {
  std::uint32_t keys[kMaxDropoutReplicas][2];
  DropoutBits first;
  std::int64_t first_token;
};

// There are at most kMaxDropoutReplicas.
inline DropoutOfCall dropout_of_call(const DropoutDraws& draws, std::int64_t replicas) {
  DropoutOfCall call{};
  call.first = draws.first;
  call.first_token = draws.first_token;
  for (std::int64_t r = 0; draws.first.threshold != 0 && r < replicas; ++r) {
    call.keys[r][0] = draws.keys[2 * r];
    call.keys[r][1] = draws.keys[2 * r + 1];
  }
  return call;
}

}  // namespace che::gpu
