#include "experiments/sweep_progress.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/experiments/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

// A file that counts as a checkpoint: the step is the status's.
void put_checkpoint(const RunFolder& run) { std::ofstream(run.path() / "checkpoint.bin") << "model"; }

RunConfig one_length(std::int64_t seed) {
  RunConfig config = made_up_config("even_pairs", "none", seed);
  config.evaluation.last_length = config.evaluation.first_length;
  return config;
}

// A run that was interrupted at step 200 of 1000.
RunFolder interrupted_run(const ScratchFolder& scratch) {
  const RunFolder run = store_run(scratch.path(), one_length(0), "interrupted");
  put_checkpoint(run);
  return run;
}

// What `progress` says after 10 seconds, when it has heard that the run is at `step` of 1000.
std::string heard(SweepProgress& progress, const RunFolder& run, std::int64_t step) {
  progress.update({.job = run.id(), .phase = "training", .done = step, .total = 1000});
  return progress.describe(10);
}

TEST(SweepProgress, EstimatesFromWhatWasDoneSinceTheStart) {
  const ScratchFolder scratch;
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::int64_t seed : {0, 1})
    jobs.push_back({RunFolder::create(scratch.path(), one_length(seed))});
  SweepProgress progress(jobs, std::nullopt);
  EXPECT_EQ(progress.describe(10), "all: 0 of 2 jobs ended, 0 %");
  Progress one{.job = jobs[0].front().id(), .phase = "training", .done = 500, .total = 1000};
  progress.update(one);
  // Half of a job in 10 s leaves three halves, 30 s.
  EXPECT_EQ(progress.describe(10), "all: 0 of 2 jobs ended, 24 %, about 30 s left");
  one.done = 750;
  progress.update(one);
  EXPECT_EQ(progress.describe(15), "all: 0 of 2 jobs ended, 37 %, about 25 s left");
  progress.finish(one.job, true);  // Nothing is left of it, and three quarters of it were computed.
  EXPECT_EQ(progress.describe(15), "all: 1 of 2 jobs ended (1 failed), 50 %, about 20 s left");
  progress.finish(jobs[1].front().id(), false);
  EXPECT_EQ(progress.describe(35), "all: 2 of 2 jobs ended (1 failed), 100 %");
}

TEST(SweepProgress, ResumedStepsAreNoSpeed) {
  const ScratchFolder scratch;
  const RunFolder run = interrupted_run(scratch);
  SweepProgress progress({{run}}, std::nullopt);
  EXPECT_EQ(heard(progress, run, 200), "all: 0 of 1 job ended, 0 %");
  EXPECT_EQ(heard(progress, run, 600), "all: 0 of 1 job ended, 49 %, about 10 s left");
  EXPECT_EQ(heard(progress, run, 100), "all: 0 of 1 job ended, 0 %") << "its checkpoint was damaged";
}

// Otherwise what is evaluated again counts as trained again, too.
TEST(SweepProgress, StoredModelsAreNotTrainedAgain) {
  const ScratchFolder scratch;
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::int64_t seed : {0, 1}) {
    const RunFolder run = store_run(scratch.path(), one_length(seed), "finished");
    put_checkpoint(run);
    RunConfig more = run.config();
    more.evaluation.samples *= 2;
    jobs.push_back({RunFolder::create(scratch.path(), more)});
  }
  SweepProgress progress(jobs, std::nullopt);
  progress.finish(jobs[0].front().id(), false);
  EXPECT_EQ(progress.describe(10), "all: 1 of 2 jobs ended, 50 %, about 10 s left");
  progress.update({.job = jobs[1].front().id(), .phase = "evaluating", .done = 1, .total = 2});
  EXPECT_EQ(progress.describe(12), "all: 1 of 2 jobs ended, 75 %, about 4 s left");
}

// The checkpoint says where it stands, and only the worker has read it.
TEST(SweepProgress, WithADamagedStatusTheFirstReportIsTheStart) {
  const ScratchFolder scratch;
  const RunFolder run = interrupted_run(scratch);
  std::ofstream(run.path() / "status.json") << "torn";
  SweepProgress progress({{run}}, std::nullopt);
  EXPECT_EQ(heard(progress, run, 800), "all: 0 of 1 job ended, 0 %");
  EXPECT_EQ(heard(progress, run, 900), "all: 0 of 1 job ended, 49 %, about 10 s left");
}

TEST(SweepProgress, NothingLeftToComputeIsNoOperation) {
  const ScratchFolder scratch;
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::int64_t seed : {0, 1}) {
    jobs.push_back({store_run(scratch.path(), one_length(seed), "finished")});
    std::ofstream(jobs.back().front().path() / "metrics.csv") << "torn";
  }
  SweepProgress progress(jobs, std::nullopt);
  progress.finish(jobs[0].front().id(), false);
  EXPECT_EQ(progress.describe(10), "all: 1 of 2 jobs ended, 50 %");
}

TEST(SweepProgress, AskedLengthsAreWhatEvaluateHasLeftToDo) {
  const ScratchFolder scratch;
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::int64_t seed : {0, 1}) {
    jobs.push_back({store_run(scratch.path(), one_length(seed), "finished")});
  }
  put_checkpoint(jobs[0].front());  // The other one is pruned: nothing will train it.
  SweepProgress progress(jobs, EvaluationRequest{.lengths = {.first = 90, .last = 91}, .samples = 64});
  progress.update({.job = jobs[0].front().id(), .phase = "evaluating", .done = 1, .total = 2});
  EXPECT_EQ(progress.describe(10), "all: 0 of 2 jobs ended, 25 %, about 30 s left");
}

}  // namespace
}  // namespace che
