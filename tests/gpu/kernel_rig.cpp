#include "tests/gpu/kernel_rig.h"

#include <fmt/core.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/random.h"
#include "models/ops/device/gpu.h"
#include "tests/gpu/race_reports.h"
#include "tests/models/ops/targets.h"

namespace che {

std::vector<float> some_values(std::int64_t count, std::uint64_t seed, float scale) {
  RandomStream random(seed, Purpose::kInit);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = scale * static_cast<float>(random.normal());
  return values;
}

std::vector<float> unwritten(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count), NAN);
}

namespace {

bool has_same_bits(const std::vector<float>& one, const std::vector<float>& other) {
  return std::ranges::equal(one, other, {}, std::bit_cast<std::uint32_t, float>,
                            std::bit_cast<std::uint32_t, float>);
}

}  // namespace

CallWithMemory::CallWithMemory(GpuPrecision precision)
    : call{.allocate =
               [](void* owner, std::int64_t floats) {
                 auto& memory = static_cast<CallWithMemory*>(owner)->workspace;
                 memory = unwritten(floats);
                 return memory.data();
               },
           .owner = this,
           .precision = precision} {}

Results in_every_schedule(const Results& results, const std::function<int(const KernelCall&, Results&)>& run,
                          GpuPrecision precision) {
  using gpu::Schedule;
  std::vector<Schedule> schedules = {Schedule::kAscending};
  if (!kFindsRaces) schedules.insert(schedules.end(), {Schedule::kDescending, Schedule::kRandom});
  Results first;
  for (const Schedule schedule : schedules) {
    gpu::set_schedule(schedule);
    Results got = results;
    CallWithMemory with_memory(precision);
    EXPECT_EQ(kKernelDone, run(with_memory.call, got));
    if (first.empty()) {
      first = std::move(got);
      continue;
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(has_same_bits(first[i].values, got[i].values))
          << got[i].name << " depends on the order of threads";
    }
  }
  gpu::set_schedule(Schedule::kAscending);
  return first;
}

Results on_the_cpu(const Results& results, double bound,
                   const std::function<void(const KernelCall&, Results&)>& run) {
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  Results first;
  for (const std::int64_t target : kernel_targets()) {
    SCOPED_TRACE(target_name(target));
    const OnTarget on(target);
    Results got = results;
    run(KernelCall(), got);
    if (first.empty()) {
      first = std::move(got);
    } else {
      expect_near(first, got, bound);
    }
  }
  return first;
}

void expect_near(const Results& expected, const Results& got, double bound) {
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t n = 0; n < expected.size(); ++n) {
    const std::vector<float>& values = expected[n].values;
    ASSERT_EQ(values.size(), got[n].values.size()) << expected[n].name;
    double largest = 1;
    for (const float value : values) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    double worst = 0;
    std::size_t place = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i]) && std::isnan(got[n].values[i])) continue;
      const double error = std::abs(static_cast<double>(values[i]) - static_cast<double>(got[n].values[i]));
      if (error <= worst) continue;  // NaN goes on.
      worst = std::isnan(error) ? HUGE_VAL : error;
      place = i;
    }
    testing::Test::RecordProperty("worst_" + expected[n].name, fmt::format("{:.1e}", worst / largest));
    EXPECT_LE(worst, bound * largest) << expected[n].name << "[" << place << "]: expected " << values[place]
                                      << ", got " << got[n].values[place];
  }
}

}  // namespace che
