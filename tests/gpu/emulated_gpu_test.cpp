// The emulation computes what the execution model says, and finds bugs that are planted in a small kernel.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/ops/device/gpu.h"
#include "tests/gpu/race_reports.h"

namespace che::gpu {
namespace {

enum class Plant {
  kNone,
  kNoBlockBarrier,
  kNoWarpBarrier,
  kRowTooMany,
  kDivergentBarrier,
  kEarlyReturn,
  kWriteBehind,
};

constexpr int kRows = 3;
constexpr int kBlock = 96;

// out[row][i] = the sum over the warps w of in[row][32 w + (i + 1) % 32], through shared memory; a tensor
// core's product, whose result does not matter, is between what a lane writes and what its neighbour reads.
template <Plant kPlant>
__global__ void neighbour_sums(const float* in, int rows, float* out) {
  CHE_DYNAMIC_SHARED(bytes);
  float* const mine = reinterpret_cast<float*>(bytes);  // (kBlock)
  float* const turned = mine + kBlock;                  // (kBlock)
  const int thread = thread_number();
  const int first = thread / kWarp * kWarp;
  for (int row = 0; row < rows + (kPlant == Plant::kRowTooMany ? 1 : 0); ++row) {
    mine[thread] = in[row * kBlock + thread];
    if (kPlant != Plant::kNoWarpBarrier) __syncwarp();
    float unused[4] = {};
    mma_tf32(unused, {0, 0, 0, 0}, {0, 0});
    turned[thread] = mine[first + (thread + 1) % kWarp];
    if (kPlant == Plant::kWriteBehind && thread == 0) turned[kBlock] = 0;
    if (kPlant != Plant::kNoBlockBarrier && (kPlant != Plant::kDivergentBarrier || thread >= kWarp))
      __syncthreads();
    float sum = 0;
    for (int w = 0; w < kBlock; w += kWarp) sum += turned[w + thread % kWarp];
    out[row * kBlock + thread] = sum;
    if (kPlant == Plant::kEarlyReturn && thread < kWarp) return;
    __syncthreads();
  }
}

// Rows behind the last one are no numbers, but for AddressSanitizer they are not there.
std::vector<float> some_rows() {
  std::vector<float> values(kRows * kBlock);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 101);
  return values;
}

std::vector<float> expected_sums(const std::vector<float>& in) {
  std::vector<float> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (std::size_t w = 0; w < kBlock; w += kWarp) out[i] += in[i / kBlock * kBlock + w + (i + 1) % kWarp];
  }
  return out;
}

// Whether the sums are wrong in one of the schedules.
template <Plant kPlant>
bool is_wrong_in_a_schedule() {
  const std::vector<float> in = some_rows();
  const std::vector<float> expected = expected_sums(in);
  bool wrong = false;
  for (const Schedule schedule : {Schedule::kAscending, Schedule::kDescending, Schedule::kRandom}) {
    set_schedule(schedule);
    std::vector<float> out(in.size(), NAN);
    launch(&neighbour_sums<kPlant>, dim3(1), dim3(kBlock), std::int64_t{2 * kBlock * sizeof(float)}, nullptr,
           in.data(), kRows, out.data());
    wrong = wrong || out != expected;
  }
  set_schedule(Schedule::kAscending);
  return wrong;
}

TEST(EmulatedGpu, RunsAKernel) {
  EXPECT_FALSE(is_wrong_in_a_schedule<Plant::kNone>());
  EXPECT_EQ(0, race_reports());
}

TEST(EmulatedGpu, AMissingBlockBarrierIsFound) {
  EXPECT_TRUE(is_wrong_in_a_schedule<Plant::kNoBlockBarrier>());
  EXPECT_EQ(kFindsRaces, race_reports() > 0);
  expect_races(race_reports());
}

// All lanes meet at the product, so that no schedule shows it.
TEST(EmulatedGpu, AMissingWarpBarrierIsFoundByThreadSanitizer) {
  EXPECT_FALSE(is_wrong_in_a_schedule<Plant::kNoWarpBarrier>());
  EXPECT_EQ(kFindsRaces, race_reports() > 0);
  expect_races(race_reports());
}

template <Plant kPlant>
std::string error_of() {
  try {
    is_wrong_in_a_schedule<kPlant>();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(EmulatedGpu, ADivergentBarrierIsReported) {
  EXPECT_TRUE(error_of<Plant::kDivergentBarrier>().starts_with("threads wait at different __syncthreads"));
  EXPECT_EQ("block (0, 0, 0) hangs: 64 threads at __syncthreads, 0 at a warp operation, 32 returned",
            error_of<Plant::kEarlyReturn>());
  expect_races(race_reports());
}

TEST(EmulatedGpu, ARowTooManyIsFoundByAddressSanitizer) {
  if (!kFindsAccesses) GTEST_SKIP() << "AddressSanitizer finds it; this build is without";
  EXPECT_DEATH(is_wrong_in_a_schedule<Plant::kRowTooMany>(), "heap-buffer-overflow");
}

TEST(EmulatedGpu, WritingBehindSharedMemoryIsFound) {
  if (kFindsAccesses) {
    EXPECT_DEATH(is_wrong_in_a_schedule<Plant::kWriteBehind>(), "heap-buffer-overflow");
    return;
  }
  EXPECT_THROW(is_wrong_in_a_schedule<Plant::kWriteBehind>(), std::runtime_error);
}

// Thread 0 returns before the others start, in one of the schedules.
__global__ void without_barrier(float* out) {
  CHE_DYNAMIC_SHARED(bytes);
  float* const shared = reinterpret_cast<float*>(bytes);
  if (thread_number() == 0) shared[0] = 1;
  out[thread_number()] = shared[0];
}

TEST(EmulatedGpu, AMissingBarrierIsFoundWhereThreadsReturn) {
  std::vector<float> out(kWarp);
  set_schedule(Schedule::kDescending);
  launch(&without_barrier, dim3(1), dim3(kWarp), std::int64_t{sizeof(float)}, nullptr, out.data());
  EXPECT_TRUE(std::isnan(out[1]));
  set_schedule(Schedule::kAscending);
  const int before = race_reports();
  launch(&without_barrier, dim3(1), dim3(kWarp), std::int64_t{sizeof(float)}, nullptr, out.data());
  EXPECT_EQ(1, out[1]);
  EXPECT_EQ(kFindsRaces, race_reports() > before);
  expect_races(race_reports());
}

__global__ void read_shared(float* out) {
  CHE_DYNAMIC_SHARED(bytes);
  out[0] = reinterpret_cast<const float*>(bytes)[0];
}

TEST(EmulatedGpu, SharedMemoryStartsAsNoNumber) {
  float value = 0;
  launch(&read_shared, dim3(1), dim3(1), std::int64_t{sizeof(float)}, nullptr, &value);
  EXPECT_TRUE(std::isnan(value));
}

// (16, 8) (8, 8) as the lanes of a warp hold it; elements that TF32 has exactly.
__global__ void product(const float* a, const float* b, float* out) {
  const int lane = thread_number();
  const int t = lane % 4;
  const int g = lane / 4;
  float d[4] = {};
  mma_tf32(d,
           {to_tf32(a[g * 8 + t]), to_tf32(a[(g + 8) * 8 + t]), to_tf32(a[g * 8 + t + 4]),
            to_tf32(a[(g + 8) * 8 + t + 4])},
           {to_tf32(b[t * 8 + g]), to_tf32(b[(t + 4) * 8 + g])});
  for (int i = 0; i < 4; ++i) out[(g + (i >= 2 ? 8 : 0)) * 8 + 2 * t + i % 2] = d[i];
}

TEST(EmulatedGpu, ATensorCoreMultiplies) {
  std::vector<float> a(128), b(64), out(128), expected(128);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) - 6;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) - 3;
  launch(&product, dim3(1), dim3(kWarp), std::int64_t{0}, nullptr, a.data(), b.data(), out.data());
  for (std::size_t i = 0; i < 128; ++i) {
    for (std::size_t k = 0; k < 8; ++k) expected[i] += a[i / 8 * 8 + k] * b[k * 8 + i % 8];
  }
  EXPECT_EQ(expected, out);
}

TEST(EmulatedGpu, RoundsToTf32) {
  EXPECT_EQ(1.0F, to_tf32(1.0F + 0x1p-12F));
  EXPECT_EQ(1.0F + 0x1p-10F, to_tf32(1.0F + 0x1p-11F));
  EXPECT_EQ(-1.0F, to_tf32(-1.0F));
  EXPECT_TRUE(std::isnan(to_tf32(NAN)));
}

}  // namespace
}  // namespace che::gpu
