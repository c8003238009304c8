#include "experiments/scheduling/observed_run.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/file_lock.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(ObservedRun, NamesEveryStateOnce) {
  const ScratchFolder scratch;
  std::int64_t seed = 0;
  const auto stored = [&](RunState state) {
    return store_run(scratch.path(), made_up_config("even_pairs", "rope", seed++), state, 0.5);
  };
  EXPECT_EQ("finished", observe(stored(RunState::kFinished)).state_text());
  EXPECT_EQ("failed", observe(stored(RunState::kFailed)).state_text());
  EXPECT_EQ("interrupted", observe(stored(RunState::kInterrupted)).state_text());
  EXPECT_EQ("interrupted", observe(stored(RunState::kTraining)).state_text()) << "its process is gone";
  const RunFolder fresh = RunFolder::create(scratch.path(), made_up_config("even_pairs", "rope", seed++));
  EXPECT_EQ("waiting", observe(fresh).state_text());
  const FileLock just_begun(fresh.path());
  EXPECT_EQ("training", observe(fresh).state_text());
  const RunFolder torn = stored(RunState::kFinished);
  std::ofstream(torn.path() / "evaluation.csv") << "torn";
  EXPECT_EQ("damaged", observe(torn).state_text());
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

}  // namespace
}  // namespace che
