// A GPU's execution model on the CPU, to test kernels where there is no GPU: a thread block is a set of
// fibers of one OS thread; blocks pass one after the other.
//
// It finds: wrong results; wrong indices (AddressSanitizer: a block's shared memory is a heap allocation of
// the exact size); shared memory that is read before it is written (it starts as NaN); barriers that not all
// threads reach (reported, not hung); missing barriers, in two ways: threads between two barriers run in
// ascending, descending or random order, and with ThreadSanitizer, which is told that barriers order memory
// and that nothing else does, any pair of unordered accesses is reported whatever the order.
// It cannot tell: speed, caches, asynchronous copies, what nvcc makes of the code.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include "models/ops/device/kernel_table.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define CHE_DYNAMIC_SHARED(name) unsigned char* const name = ::che::gpu::shared_memory()

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

struct alignas(8) float2 {
  float x, y;
};
inline float2 make_float2(float x, float y) { return {x, y}; }

namespace che::gpu {

// In which order the threads of a block run from one barrier to the next.
enum class Schedule { kAscending, kDescending, kRandom };
void set_schedule(Schedule schedule);

// Of a block's shared memory, as on an H100.
constexpr std::int64_t kMaxSharedBytes = 227 * 1024;

// Of emulated_gpu.cpp, which no sanitizer watches.
const dim3& thread_index();
const dim3& block_index();
const dim3& block_size();
unsigned char* shared_memory();
unsigned lane_index();
void sync_block(unsigned line);
void sync_warp(unsigned mask, unsigned line);

// Gives the other lanes of `mask` `bytes` bytes; returns all lanes' slots of 32 bytes each. Orders no memory.
const unsigned char* exchange_bytes(unsigned mask, const void* mine, unsigned bytes, const char* what);

// Throws std::runtime_error where threads wait at different barriers, or where shared memory was written to
// behind its end.
void run_grid(dim3 grid, dim3 block, std::int64_t shared_bytes, const std::function<void()>& body);

// Is told of every kernel that is started, with what starts it again; null for nobody.
using LaunchListener = void (*)(std::function<void()> again);
void set_launch_listener(LaunchListener listener);
LaunchListener launch_listener();

// The most shared memory that a block had since the last call.
std::int64_t take_largest_shared_bytes();

// What GPUs have differs; a test may set it.
inline std::int64_t shared_bytes_limit = kMaxSharedBytes;
inline std::int64_t max_shared_bytes() { return shared_bytes_limit; }

// Device 0 is there, and no other.
inline int describe_device(std::int32_t number, CudaDevice* device) {
  constexpr int kInvalidDevice = 101;
  if (number != 0) return kInvalidDevice;
  *device = {.name = "emulated",
             .compute_capability = 90,
             .multiprocessors = 1,
             .driver_version = 13'000,
             .runtime_version = 13'000,
             .memory_bytes = std::int64_t{1} << 30,
             .shared_bytes = kMaxSharedBytes,
             .memory_rate = 0,
             .multiply_add_rate = 0};
  return 0;
}

inline int wait() { return 0; }

inline const char* error_text(int error) { return error == 101 ? "invalid device ordinal" : "unknown error"; }

template <class... Parameters, class... Arguments>
int launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::int64_t shared_bytes, void* /*stream*/,
           const Arguments&... arguments) {
  const auto run = [=] { run_grid(grid, block, shared_bytes, [&] { kernel(arguments...); }); };
  run();
  if (const LaunchListener listener = launch_listener()) listener(run);
  return 0;
}

template <class Value, class Use>
auto exchange(unsigned mask, const Value& mine, const char* what, const Use& use) {
  static_assert(sizeof(Value) <= 32);
  const unsigned char* const slots = exchange_bytes(mask, &mine, sizeof(Value), what);
  return use(lane_index(), [&](unsigned lane) {
    Value value;
    __builtin_memcpy(&value, slots + 32 * lane, sizeof(Value));
    return value;
  });
}

inline float truncated_to_tf32(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000U);
}

// Rounds to nearest, ties away from zero.
inline float to_tf32(float x) {
  return std::isnan(x) ? x
                       : truncated_to_tf32(std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + 0x1000U));
}

// m16n8k8 with .tf32 operands, fragments as in the PTX manual.
inline void mma_tf32(float (&d)[4], const float (&a)[4], const float (&b)[2]) {
  struct Operands {
    float a[4], b[2];
  };
  exchange(0xffffffffU, Operands{{a[0], a[1], a[2], a[3]}, {b[0], b[1]}}, "mma",
           [&](unsigned lane, const auto& of) {
             for (unsigned i = 0; i < 4; ++i) {
               const unsigned row = lane / 4 + (i >= 2 ? 8 : 0);
               const unsigned column = lane % 4 * 2 + (i & 1U);
               for (unsigned k = 0; k < 8; ++k) {
                 d[i] += truncated_to_tf32(of(row % 8 * 4 + k % 4).a[(row >= 8 ? 1 : 0) + (k >= 4 ? 2 : 0)]) *
                         truncated_to_tf32(of(column * 4 + k % 4).b[k >= 4 ? 1 : 0]);
               }
             }
             return 0;
           });
}

}  // namespace che::gpu

#define threadIdx (::che::gpu::thread_index())
#define blockIdx (::che::gpu::block_index())
#define blockDim (::che::gpu::block_size())

inline void __syncthreads(unsigned line = __builtin_LINE()) { ::che::gpu::sync_block(line); }
inline void __syncwarp(unsigned mask = 0xffffffffU, unsigned line = __builtin_LINE()) {
  ::che::gpu::sync_warp(mask, line);
}
template <class Value>
Value __shfl_xor_sync(unsigned mask, Value value, int lanes) {
  return ::che::gpu::exchange(mask, value, "__shfl_xor_sync", [&](unsigned lane, const auto& of) {
    return of(lane ^ static_cast<unsigned>(lanes));
  });
}
template <class Value>
Value __shfl_sync(unsigned mask, Value value, int source) {
  return ::che::gpu::exchange(mask, value, "__shfl_sync", [&](unsigned, const auto& of) {
    return of(static_cast<unsigned>(source) % 32U);
  });
}
template <class Value>
Value __ldg(const Value* p) {
  return *p;
}
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32U);
}
using std::max;
using std::min;
