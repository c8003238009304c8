#include "experiments/schedule/status.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/file_lock.h"
#include "core/lock_holder.h"
#include "core/process.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using ExperimentStatusTest = ScratchTest;

TEST(ObservedRun, TrainsFromItsLockOn) {
  const ScratchFolder scratch;
  const RunFolder fresh = RunFolder::create(scratch.path(), made_up_config("even_pairs", "rope"));
  EXPECT_EQ("waiting", observe(fresh).state_text());
  const FileLock just_begun(fresh.path());
  EXPECT_EQ("training", observe(fresh).state_text());
}

// A companion in its job may still train: the lock is the job's.
TEST(ObservedRun, AFailedRunOfAJobAtWorkHasFailed) {
  const ScratchFolder scratch;
  const RunFolder run = store_run(scratch.path(), made_up_config("even_pairs", "rope", 0), RunState::kFailed);
  const FileLock lock(run.path());
  EXPECT_EQ(RunState::kFailed, observe(run).state);
}

TEST(ObservedRun, AFinishedRunThatLacksLengthsIsWaiting) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("even_pairs", "rope", 0);
  store_run(scratch.path(), config, RunState::kFinished, 0.5);
  config.evaluation.last_length += 10;
  const RunFolder longer = RunFolder::create(scratch.path(), config);
  EXPECT_EQ(RunState::kWaiting, observe(longer).state);
  const FileLock lock(longer.path());
  EXPECT_EQ(RunState::kEvaluating, observe(longer).state);
}

void set_heard_now(const RunFolder& run, const std::string& host) {
  RunStatus status = run.status();
  status.updated = current_utc_time();
  status.host = host;
  run.write_status(status);
}

TEST_F(ExperimentStatusTest, CountsEveryStateAndSaysWhy) {
  const auto store = [&](std::int64_t seed, RunState state) {
    return store_run(scratch_.path(), made_up_config("even_pairs", "rope", seed), state, 0.5);
  };
  store(0, RunState::kFinished);
  const FileLock at_work(store(1, RunState::kTraining).path());  // However long nothing was heard.
  store(2, RunState::kTraining);                                 // Elsewhere, last heard of long ago.
  set_heard_now(store(9, RunState::kTraining), host_name());     // Killed just now.
  store(3, RunState::kInterrupted);
  store(4, RunState::kFailed);
  RunFolder::create(scratch_.path(), made_up_config("even_pairs", "rope", 5));
  std::ofstream(store(6, RunState::kFinished).path() / "evaluation.csv") << "torn";
  std::ofstream(store(7, RunState::kFinished).path() / "config.yaml") << "torn";
  RunConfig more = made_up_config("even_pairs", "rope", 0);
  more.seed = 8;
  store_run(scratch_.path(), more, RunState::kFinished, 0.5);
  more.evaluation.last_length += 10;  // Asks for lengths that are not there yet.
  RunFolder::create(scratch_.path(), more);

  const ExperimentStatus status = experiment_status(scratch_.path());
  EXPECT_EQ(status.runs, 10U);
  EXPECT_EQ(status.by_state.at(RunState::kFinished), 1U);
  EXPECT_EQ(status.by_state.at(RunState::kTraining), 1U);
  EXPECT_EQ(status.by_state.at(RunState::kInterrupted), 3U);
  EXPECT_EQ(status.by_state.at(RunState::kFailed), 1U);
  EXPECT_EQ(status.by_state.at(RunState::kWaiting), 2U);
  EXPECT_EQ(status.damaged, 2U);
  EXPECT_GT(status.time_left.value(), 0);
  EXPECT_TRUE(status.is_worked_on);
  const std::string text = describe(status);
  expect_contains(text,
                  {"10 runs: 2 waiting, 1 training, 1 finished, 3 interrupted, 1 failed, 2 damaged; about ",
                   "  training    even_pairs", "step 200/1000 (20 %), 80.0 steps/s", "nothing heard for ",
                   "loss is not finite at step 200", "evaluation.csv:1:", "config.yaml"});
}

// A finished run that lacks lengths and its model has to be trained again.
TEST_F(ExperimentStatusTest, TimeLeftDependsOnStoredModels) {
  const FileLock at_work(
      store_run(scratch_.path(), made_up_config("even_pairs", "rope", 1), RunState::kTraining).path());
  RunConfig config = made_up_config("even_pairs", "rope", 0);
  const RunFolder run = store_run(scratch_.path(), config, RunState::kFinished, 0.5);
  const double done = experiment_status(scratch_.path()).time_left.value();
  config.evaluation.last_length += 10;
  RunFolder::create(scratch_.path(), config);
  const double pruned = experiment_status(scratch_.path()).time_left.value();
  std::ofstream(run.path() / "checkpoint.bin") << "model";
  const double kept = experiment_status(scratch_.path()).time_left.value();
  EXPECT_GT(done, 0);
  EXPECT_GT(kept, done);
  EXPECT_GT(pruned, 2 * kept);
}

TEST_F(ExperimentStatusTest, IsNotOverBetweenTwoJobs) {
  const RunFolder run =
      store_run(scratch_.path(), made_up_config("even_pairs", "rope", 0), RunState::kFinished, 0.5);
  EXPECT_FALSE(experiment_status(scratch_.path()).is_worked_on);
  const FileLock scheduler(scratch_.path());
  EXPECT_TRUE(experiment_status(scratch_.path()).is_worked_on);
}

// What has only just begun tells little of how long the rest takes.
TEST_F(ExperimentStatusTest, FinishedRunsTellOfTheSpeedToo) {
  const RunFolder finished =
      store_run(scratch_.path(), made_up_config("even_pairs", "rope", 0), RunState::kFinished, 0.5);
  const RunFolder begun =
      store_run(scratch_.path(), made_up_config("even_pairs", "rope", 1), RunState::kTraining);
  store_run(scratch_.path(), made_up_config("even_pairs", "rope", 2),
            RunState::kInterrupted);  // Its model is lost.
  RunStatus status = begun.status();
  status.step = 1;
  status.training_seconds = 100;
  begun.write_status(status);
  const FileLock at_work(begun.path());
  const double spent = finished.status().training_seconds + finished.status().evaluation_seconds;
  // Two runs are left, and a thousandth of one took 100 seconds beside the finished one.
  EXPECT_NEAR(experiment_status(scratch_.path()).time_left.value(), 2 * (spent + 100), 0.002 * (spent + 100));
}

// The lock of a run that another machine works on is a file in the run's folder.
TEST_F(ExperimentStatusTest, BelievesTheLockOfAnotherHost) {
  const RunFolder run =
      store_run(scratch_.path(), made_up_config("even_pairs", "rope", 0), RunState::kTraining);
  EXPECT_EQ(experiment_status(scratch_.path()).by_state.at(RunState::kInterrupted), 1U);
  LockHolder elsewhere = this_process();
  elsewhere.host = "elsewhere";
  elsewhere.boot = "another";
  LockRefusal refusal;
  const auto lock = FileLock::try_hold(run.path(), refusal, elsewhere);
  ASSERT_TRUE(lock) << refusal.text;
  EXPECT_EQ(experiment_status(scratch_.path()).by_state.at(RunState::kTraining), 1U);
}

}  // namespace
}  // namespace che
