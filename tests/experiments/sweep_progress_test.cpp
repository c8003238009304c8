#include "experiments/sweep_progress.h"

#include <gtest/gtest.h>

#include "tests/experiments/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(SweepProgress, EstimatesFromWhatWasDoneSinceTheStart) {
  const ScratchFolder scratch;
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::int64_t seed : {0, 1}) {
    RunConfig config = made_up_config("even_pairs", "none", seed);
    config.evaluation.last_length = config.evaluation.first_length;
    jobs.push_back({RunFolder::create(scratch.path(), config)});
  }
  SweepProgress progress(jobs, true);
  EXPECT_EQ(progress.describe(10), "all: 0 of 2 jobs ended, 0 %");
  Progress one{.job = jobs[0].front().id(), .phase = "training", .done = 500, .total = 1000};
  progress.update(one);  // Resumed at half: that is no speed.
  EXPECT_EQ(progress.describe(10), "all: 0 of 2 jobs ended, 24 %");
  one.done = 750;
  progress.update(one);
  // A quarter of a job in 10 s leaves 5 quarters, 50 s.
  EXPECT_EQ(progress.describe(10), "all: 0 of 2 jobs ended, 37 %, about 50 s left");
  progress.finish(one.job, true);
  EXPECT_EQ(progress.describe(20), "all: 1 of 2 jobs ended (1 failed), 50 %, about 40 s left");
}

}  // namespace
}  // namespace che
