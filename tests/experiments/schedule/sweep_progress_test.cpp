#include "experiments/schedule/sweep_progress.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using SweepProgressTest = ScratchTest;

RunConfig one_length(std::int64_t seed) {
  RunConfig config = made_up_config("even_pairs", "none", seed);
  config.evaluation.last_length = config.evaluation.first_length;
  return config;
}

// A run that was interrupted at step 200 of 1000.
RunFolder interrupted_run(const ScratchFolder& scratch) {
  const RunFolder run = store_run(scratch.path(), one_length(0), RunState::kInterrupted);
  put_checkpoint(run);
  return run;
}

// What `progress` says after 10 seconds, when it has heard that the run is at `step` of 1000.
std::string heard(SweepProgress& progress, const RunFolder& run, std::int64_t step) {
  progress.update({.job = run.id(), .phase = Phase::kTraining, .done = step, .total = 1000}, 10);
  return progress.describe(10);
}

TEST_F(SweepProgressTest, EstimatesFromWhatWasDoneSinceTheStart) {
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::int64_t seed : {0, 1})
    jobs.push_back({RunFolder::create(scratch_.path(), one_length(seed))});
  SweepProgress progress(jobs, std::nullopt);
  EXPECT_EQ(progress.describe(10), "total: 0/2 jobs, 0 %");
  Progress one{.job = jobs[0].front().id(), .phase = Phase::kTraining, .done = 500, .total = 1000};
  progress.update(one, 10);
  // Half of a job in 10 s leaves three halves, 30 s.
  EXPECT_EQ(progress.describe(10), "total: 0/2 jobs, 24 %, 30 s left");
  one.done = 750;
  progress.update(one, 15);
  EXPECT_EQ(progress.describe(15), "total: 0/2 jobs, 37 %, 25 s left");
  progress.finish(one.job, true);  // Nothing is left of it, and three quarters of it were computed.
  EXPECT_EQ(progress.describe(15), "total: 1/2 jobs (1 failed), 50 %, 20 s left");
  progress.finish(jobs[1].front().id(), false);
  EXPECT_EQ(progress.describe(35), "total: 2/2 jobs (1 failed), 100 %");
}

// Encodings differ in what an operation costs: what has not begun counts with the mean of their speeds.
TEST_F(SweepProgressTest, TheTimeLeftIsByTheMedianSpeeds) {
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::int64_t seed : {0, 1, 2, 3})
    jobs.push_back({RunFolder::create(scratch_.path(), one_length(seed))});
  SweepProgress progress(jobs, std::nullopt);
  const auto report = [&](std::size_t job, std::int64_t step, double seconds) {
    progress.update({.job = jobs[job].front().id(), .phase = Phase::kTraining, .done = step, .total = 1000},
                    seconds);
  };
  report(0, 10, 100);  // A slow start says nothing.
  report(1, 10, 100);
  report(0, 500, 149);  // 10 steps a second.
  report(1, 500, 198);  // 5 steps a second.
  // The two that have begun need 50 and 100 s, the others 133 s each; two work side by side.
  EXPECT_EQ(progress.describe(198), "total: 0/4 jobs, 24 %, 3 min left");
}

TEST_F(SweepProgressTest, ResumedStepsAreNoSpeed) {
  const RunFolder run = interrupted_run(scratch_);
  SweepProgress progress({{run}}, std::nullopt);
  EXPECT_EQ(heard(progress, run, 200), "total: 0/1 job, 0 %");
  EXPECT_EQ(heard(progress, run, 600), "total: 0/1 job, 49 %, 10 s left");
  EXPECT_EQ(heard(progress, run, 100), "total: 0/1 job, 0 %") << "its checkpoint was damaged";
}

// Otherwise what is evaluated again counts as trained again, too.
TEST_F(SweepProgressTest, StoredModelsAreNotTrainedAgain) {
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::int64_t seed : {0, 1}) {
    const RunFolder run = store_run(scratch_.path(), one_length(seed), RunState::kFinished);
    put_checkpoint(run);
    RunConfig more = run.config();
    more.evaluation.samples *= 2;
    jobs.push_back({RunFolder::create(scratch_.path(), more)});
  }
  SweepProgress progress(jobs, std::nullopt);
  progress.finish(jobs[0].front().id(), false);
  EXPECT_EQ(progress.describe(10), "total: 1/2 jobs, 50 %, 10 s left");
  progress.update({.job = jobs[1].front().id(), .phase = Phase::kEvaluating, .done = 1, .total = 2}, 12);
  EXPECT_EQ(progress.describe(12), "total: 1/2 jobs, 75 %, 4 s left");
}

TEST_F(SweepProgressTest, RunsThatBeginAgainHaveAllStepsAhead) {
  const RunFolder run = store_run(scratch_.path(), one_length(0), RunState::kFinished);
  put_checkpoint(run);
  SweepProgress progress({{run}}, std::nullopt, {{run.id(), {300}}});
  EXPECT_EQ(heard(progress, run, 500), "total: 0/1 job, 49 %, 10 s left");
}

// The checkpoint says where it stands, and only the worker has read it.
TEST_F(SweepProgressTest, WithADamagedStatusTheFirstReportIsTheStart) {
  const RunFolder run = interrupted_run(scratch_);
  std::ofstream(run.path() / "status.json") << "torn";
  SweepProgress progress({{run}}, std::nullopt);
  EXPECT_EQ(heard(progress, run, 800), "total: 0/1 job, 0 %");
  EXPECT_EQ(heard(progress, run, 900), "total: 0/1 job, 49 %, 10 s left");
}

TEST_F(SweepProgressTest, NothingLeftToComputeIsNoOperation) {
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::int64_t seed : {0, 1}) {
    jobs.push_back({store_run(scratch_.path(), one_length(seed), RunState::kFinished)});
    std::ofstream(jobs.back().front().path() / "metrics.csv") << "torn";
  }
  SweepProgress progress(jobs, std::nullopt);
  progress.finish(jobs[0].front().id(), false);
  EXPECT_EQ(progress.describe(10), "total: 1/2 jobs, 50 %");
}

TEST_F(SweepProgressTest, AskedLengthsAreWhatEvaluateHasLeftToDo) {
  std::vector<std::vector<RunFolder>> jobs;
  for (const std::int64_t seed : {0, 1}) {
    jobs.push_back({store_run(scratch_.path(), one_length(seed), RunState::kFinished)});
  }
  put_checkpoint(jobs[0].front());  // The other one is pruned: nothing will train it.
  SweepProgress progress(
      jobs, EvaluationRequest{
                .lengths = IntegerRange{.first = 90, .last = 91}, .samples = 64, .evaluation_settings = {}});
  progress.update({.job = jobs[0].front().id(), .phase = Phase::kEvaluating, .done = 1, .total = 2}, 10);
  EXPECT_EQ(progress.describe(10), "total: 0/2 jobs, 25 %, 30 s left");
}

}  // namespace
}  // namespace che
