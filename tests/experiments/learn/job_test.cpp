#include "experiments/learn/job.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/file_lock.h"
#include "core/files.h"
#include "experiments/plan/identity.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/needs.h"
#include "tests/contains.h"
#include "tests/experiments/learn/final_checkpoint.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

class JobTest : public testing::Test {
 protected:
  static RunConfig small_config(std::int64_t seed = 0) {
    RunConfig config;
    config.task.reset("even_pairs");
    config.encoding.reset("randomized_dape_kerple");
    config.encoding.max_position = 128;
    config.seed = seed;
    config.model.shape() = {.width = 8, .layers = 1, .heads = 2, .ffn_multiple = 2};
    config.training.batch_size = 8;
    config.training.last_length = 6;
    config.training.steps = 30;
    config.evaluation = {.first_length = 7, .last_length = 9, .length_step = 1, .samples = 64};
    config.log.every_steps = 10;
    return config;
  }

  RunFolder create(const std::string& experiment, const RunConfig& config) const {
    return RunFolder::create(scratch_.path() / experiment, config);
  }

  static JobOutcome work(const std::vector<RunFolder>& runs, std::vector<Progress>* seen = nullptr) {
    const std::atomic<int> stop{0};
    return work_on_job(
        runs,
        [&](const Progress& progress) {
          if (seen != nullptr) seen->push_back(progress);
        },
        stop);
  }

  ScratchFolder scratch_;
};

TEST_F(JobTest, TrainsEvaluatesAndStores) {
  const RunFolder run = create("a", small_config());
  EXPECT_FALSE(assess(run).is_complete());
  EXPECT_EQ(JobOutcome::kDone, work({run}));
  EXPECT_TRUE(assess(run).is_complete());
  EXPECT_EQ(RunState::kFinished, run.status().state);
  EXPECT_EQ(30, run.status().step);
  ASSERT_EQ(3U, run.metrics().size());
  EXPECT_EQ(30, run.metrics().back().step);
  EXPECT_EQ(3U, run.evaluation().size());
}

// Its files depend on the steps only, not on when checkpoints were written: here before, at and after the
// ends of rows.
TEST_F(JobTest, CheckpointsAtEveryStepLeaveTheSameFiles) {
  for (const std::int64_t log_steps : {7, 100}) {
    const auto finished = [&](const std::string& experiment, double checkpoint_seconds) {
      RunConfig config = small_config();
      config.log.every_steps = log_steps;
      config.execution.checkpoint_seconds = checkpoint_seconds;
      const RunFolder run = create(experiment + std::to_string(log_steps), config);
      EXPECT_EQ(JobOutcome::kDone, work({run}));
      return run;
    };
    const RunFolder rarely = finished("rarely", 1e6);
    const RunFolder always = finished("always", 0);
    EXPECT_EQ(read_file(rarely.path() / "checkpoint.bin"), read_file(always.path() / "checkpoint.bin"))
        << log_steps;
    const std::vector<MetricsRow> expected = rarely.metrics();
    const std::vector<MetricsRow> actual = always.metrics();
    ASSERT_EQ(expected.size(), actual.size()) << log_steps;
    EXPECT_EQ(30, actual.back().step) << log_steps;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(expected[i].step, actual[i].step) << log_steps;
      EXPECT_EQ(expected[i].loss, actual[i].loss) << log_steps;
      EXPECT_EQ(expected[i].accuracy, actual[i].accuracy) << log_steps;
      EXPECT_EQ(expected[i].gradient_norm, actual[i].gradient_norm) << log_steps;
    }
  }
}

// A run that stops at step k, at any k, ends with the parameters and rows of one that does not.
TEST_F(JobTest, ResumesBitForBit) {
  const RunFolder straight = create("straight", small_config());
  work({straight});
  for (const std::int64_t k : {1, 10, 17, 29}) {
    RunConfig config = small_config();
    config.training.steps = k;  // Ends, with a checkpoint, at k ...
    const RunFolder early = create("early", config);
    work({early});
    const RunFolder resumed = create("resumed" + std::to_string(k), small_config());
    // ... and goes on from there under the id of the longer run.
    save_checkpoint(resumed.path(), resumed.id(), final_checkpoint(early));
    EXPECT_EQ(JobOutcome::kDone, work({resumed}));
    EXPECT_GT(resumed.metrics().front().step, k) << "trained from the start";
    const Checkpoint expected = final_checkpoint(straight);
    const Checkpoint actual = final_checkpoint(resumed);
    EXPECT_EQ(expected.step, actual.step);
    EXPECT_EQ(expected.values, actual.values) << k;
    EXPECT_EQ(expected.first_moment, actual.first_moment) << k;
    EXPECT_EQ(expected.second_moment, actual.second_moment) << k;
    EXPECT_EQ(read_file(straight.path() / "evaluation.csv"), read_file(resumed.path() / "evaluation.csv"))
        << k;
  }
}

TEST_F(JobTest, StopsAtACheckpointWhenAskedAndGoesOn) {
  RunConfig config = small_config();
  config.training.steps = 2000;
  const RunFolder run = create("stopped", config);
  std::atomic<int> stop{0};
  const auto stop_soon = [&](const Progress&) { stop = 15; };
  EXPECT_EQ(JobOutcome::kInterrupted, work_on_job({run}, stop_soon, stop));
  EXPECT_EQ(RunState::kInterrupted, run.status().state);
  const std::int64_t reached = final_checkpoint(run).step;
  EXPECT_EQ(reached, run.status().step);
  EXPECT_GT(reached, 0);
  EXPECT_LT(reached, config.training.steps);
  EXPECT_EQ(JobOutcome::kDone, work({run}));

  const RunFolder straight = create("straight", config);
  work({straight});
  EXPECT_EQ(final_checkpoint(straight).values, final_checkpoint(run).values);
}

// Somebody merges two folders of results, and the copy that comes last is the interrupted one.
TEST_F(JobTest, TrainsAnInterruptedCopyOverAFinishedRunToItsEnd) {
  const RunFolder finished = create("finished", small_config());
  work({finished});
  const std::string evaluation = read_file(finished.path() / "evaluation.csv");
  RunConfig config = small_config();
  config.training.steps = 20;
  const RunFolder early = create("early", config);
  work({early});
  save_checkpoint(finished.path(), finished.id(), final_checkpoint(early));
  finished.write_metrics(early.metrics());
  RunStatus status = finished.status();
  status.state = RunState::kInterrupted;
  status.step = 20;
  finished.write_status(status);
  EXPECT_FALSE(assess(finished).was_trained);
  EXPECT_EQ(JobOutcome::kDone, work({finished}));
  EXPECT_EQ(RunState::kFinished, finished.status().state);
  EXPECT_EQ(30, finished.metrics().back().step);
  EXPECT_EQ(evaluation, read_file(finished.path() / "evaluation.csv"));
  EXPECT_EQ(evaluation, read_file(finished.path() / "evaluation.csv.replaced"));
}

TEST_F(JobTest, UsesTheCheckpointBeforeADamagedOne) {
  RunConfig config = small_config();
  config.execution.checkpoint_seconds = 0;
  const RunFolder run = create("damaged", config);
  work({run});
  const Checkpoint expected = final_checkpoint(run);
  std::filesystem::resize_file(run.path() / "checkpoint.bin", 100);
  std::filesystem::remove(run.path() / "evaluation.csv");
  std::vector<Progress> seen;
  EXPECT_EQ(JobOutcome::kDone, work({run}, &seen));
  EXPECT_EQ(Phase::kWarning, seen.front().phase);
  expect_contains(seen.front().text, {"checkpoint.bin"});
  EXPECT_EQ(expected.values, final_checkpoint(run).values);
  EXPECT_EQ(30, run.metrics().back().step);
}

TEST_F(JobTest, CountsTheTimeOfRowsOnceThatAreMeasuredAnew) {
  const RunFolder run = create("anew", small_config());
  work({run});
  RunStatus status = run.status();
  status.evaluation_seconds += 1000;
  run.write_status(status);
  std::ofstream(run.path() / "evaluation.csv", std::ios::app) << "damage";
  EXPECT_EQ(JobOutcome::kDone, work({run}));
  EXPECT_LT(run.status().evaluation_seconds, 1000);
  EXPECT_LT(0, run.status().evaluation_seconds);
}

TEST_F(JobTest, LeavesTheNamesOfWhoWorkedOnAFinishedRun) {
  const RunFolder run = create("finished", small_config());
  work({run});
  RunStatus status = run.status();
  status.host = "elsewhere";
  status.processor = "a made-up processor";
  run.write_status(status);
  EXPECT_EQ(JobOutcome::kDone, work({run}));
  EXPECT_EQ("elsewhere", run.status().host);
  RunConfig longer = small_config();
  longer.evaluation.last_length += 1;
  work({create("finished", longer)});
  EXPECT_EQ(computed_by(status), run.status().earlier);
  EXPECT_NE("elsewhere", run.status().host);
}

TEST_F(JobTest, TrainsARunThatHasRowsAlone) {
  const RunFolder run = create("rows", small_config());
  work({run});
  std::vector<EvaluationRow> rows = run.evaluation();
  const double accuracy = std::exchange(rows.front().accuracy, 1);
  remove_checkpoints(run.path());
  run.write_evaluation(rows);
  run.write_metrics({});
  run.write_status({});
  EXPECT_EQ(JobOutcome::kDone, work({run}));
  EXPECT_EQ(accuracy, run.evaluation().front().accuracy);
  EXPECT_EQ(30, run.metrics().back().step);
}

TEST_F(JobTest, AddsLengthsWithoutTrainingAgain) {
  const RunFolder run = create("more", small_config());
  work({run});
  const auto rows = run.evaluation();
  RunConfig config = small_config();
  config.evaluation.last_length = 11;
  const RunFolder longer = create("more", config);
  EXPECT_EQ(run.path(), longer.path());
  EXPECT_FALSE(assess(longer).is_complete());
  std::vector<Progress> seen;
  EXPECT_EQ(JobOutcome::kDone, work({longer}, &seen));
  for (const Progress& progress : seen) EXPECT_EQ(Phase::kEvaluating, progress.phase);
  ASSERT_EQ(5U, longer.evaluation().size());
  EXPECT_EQ(rows.front().accuracy, longer.evaluation().front().accuracy);
}

// Rows of a lost model and of the one trained in its place make no score together.
// An untrained model, whose job a new run joins.
TEST_F(JobTest, SavesARunBesideOneThatIsSavedAlready) {
  const auto runs = [&](std::int64_t last_length) {
    std::vector<RunFolder> both;
    for (const std::int64_t seed : {1, 0}) {
      RunConfig config = small_config(seed);
      config.training.steps = 0;
      config.evaluation.last_length = last_length;
      both.push_back(create("a", config));
    }
    return both;
  };
  EXPECT_EQ(JobOutcome::kDone, work({runs(8).back()}));
  const std::vector<RunFolder> both = runs(9);
  EXPECT_EQ(JobOutcome::kDone, work(both));
  for (const RunFolder& run : both) EXPECT_TRUE(has_checkpoint(run.path())) << run.id();
}

TEST_F(JobTest, EvaluatesAllLengthsOfAModelThatIsTrainedAgain) {
  const RunFolder run = create("more", small_config());
  work({run});
  auto rows = run.evaluation();
  for (EvaluationRow& row : rows) row.accuracy = 0.125;  // As another machine measured them.
  run.write_evaluation(rows);
  remove_checkpoints(run.path());
  RunConfig config = small_config();
  config.evaluation.last_length = 11;
  const RunFolder longer = create("more", config);
  std::vector<Progress> seen;
  EXPECT_EQ(JobOutcome::kDone, work({longer}, &seen));
  EXPECT_EQ(Phase::kWarning, seen.front().phase);
  ASSERT_EQ(5U, longer.evaluation().size());
  for (const EvaluationRow& row : longer.evaluation()) EXPECT_NE(0.125, row.accuracy) << row.length;
  EXPECT_TRUE(std::filesystem::exists(run.path() / "evaluation.csv.replaced"));
}

TEST_F(JobTest, NonFiniteLossEndsTheRunAndNotItsCompanions) {
  const auto checkpoint_at_one = [&](RunConfig config) {
    config.training.steps = 1;
    const RunFolder run = create("one_step", config);
    work({run});
    return final_checkpoint(run);
  };
  const RunFolder alone = create("alone", small_config(1));
  const RunFolder good = create("mixed", small_config(1));
  const RunFolder bad = create("mixed", small_config(2));
  const Checkpoint start = checkpoint_at_one(small_config(1));
  save_checkpoint(alone.path(), alone.id(), start);
  save_checkpoint(good.path(), good.id(), start);
  // Parameters of enormous size are what a diverged step leaves behind.
  Checkpoint poisoned = checkpoint_at_one(small_config(2));
  std::fill(poisoned.values.begin(), poisoned.values.end(), 1e38F);
  poisoned.sums = {.steps = 1, .loss = 0.7, .accuracy = 0.5, .gradient_norm = 1};
  save_checkpoint(bad.path(), bad.id(), poisoned);

  EXPECT_EQ(JobOutcome::kFailed, work({good, bad}));
  EXPECT_EQ(RunState::kFailed, bad.status().state);
  expect_contains(bad.status().error, {"step 2, length "});
  ASSERT_EQ(1U, bad.metrics().size()) << "how it came about is lost";
  EXPECT_EQ(1, bad.metrics()[0].step);
  EXPECT_EQ(RunState::kFinished, good.status().state);
  work({alone});
  const std::vector<float> expected = final_checkpoint(alone).values;
  const std::vector<float> actual = final_checkpoint(good).values;
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(expected[i], actual[i], 1e-5) << i;
}

TEST_F(JobTest, RefusesRunsThatAreNoJob) {
  const RunFolder run = create("a", small_config());
  RunConfig other = small_config();
  other.encoding.reset("none");
  EXPECT_THROW(work({run, create("a", other)}), Error);
  EXPECT_THROW(work({run, run}), Error);
  EXPECT_THROW(work({}), Error);
  EXPECT_EQ(RunState::kWaiting, run.status().state);
}

TEST_F(JobTest, RefusesRunsThatAnotherProcessWorksOn) {
  const RunFolder run = create("a", small_config());
  const FileLock lock(run.path());
  EXPECT_THROW(work({run}), Error);
  EXPECT_FALSE(std::filesystem::exists(run.path() / "checkpoint.bin"));
}

TEST_F(JobTest, WaitsForAProcessThatIsAboutToEnd) {
  const RunFolder run = create("a", small_config());
  auto lock = std::make_optional<FileLock>(run.path());
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    lock.reset();
  });
  const std::atomic<int> stop{0};
  EXPECT_EQ(JobOutcome::kDone, work_on_job(
                                   {run}, [](const Progress&) {}, stop, std::chrono::seconds(60)));
  other.join();
}

TEST_F(JobTest, EvaluationWaitsForAProcessThatIsAboutToEnd) {
  const RunFolder run = create("a", small_config());
  ASSERT_EQ(JobOutcome::kDone, work({run}));
  const std::size_t rows = run.evaluation().size();
  RunConfig asked = run.config();
  asked.evaluation.last_length += asked.evaluation.length_step;
  const std::atomic<int> stop{0};
  const auto evaluate = [&](std::chrono::seconds patience) {
    return evaluate_stored_model(
        run, asked, [](const Progress&) {}, stop, patience);
  };
  auto lock = std::make_optional<FileLock>(run.path());
  EXPECT_THROW(evaluate(std::chrono::seconds(0)), Error);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    lock.reset();
  });
  EXPECT_EQ(JobOutcome::kDone, evaluate(std::chrono::seconds(60)));
  other.join();
  EXPECT_EQ(rows + 1, run.evaluation().size());
}

TEST_F(JobTest, LeavesAnEventFileForTensorboardOnRequest) {
  RunConfig config = small_config();
  work({create("plain", config)});
  config.log.tensorboard = true;
  const RunFolder run = create("logged", config);
  work({run});
  EXPECT_GT(std::filesystem::file_size(run.path() / "events.out.tfevents.che"), 6 * 30U);
  EXPECT_FALSE(std::filesystem::exists(create("plain", small_config()).path() / "events.out.tfevents.che"));
}

// What is damaged but trained and evaluated needs no training, even without a checkpoint.
TEST_F(JobTest, ADamagedStatusOfAPrunedRunCostsNothing) {
  const RunFolder run = create("a", small_config());
  work({run});
  remove_checkpoints(run.path());
  std::ofstream(run.path() / "status.json") << "{";
  EXPECT_FALSE(assess(run).is_complete());
  std::vector<Progress> seen;
  EXPECT_EQ(JobOutcome::kDone, work({run}, &seen));
  ASSERT_EQ(1U, seen.size());
  EXPECT_EQ(Phase::kWarning, seen[0].phase);
  EXPECT_TRUE(assess(run).is_complete() && !has_checkpoint(run.path()));
  EXPECT_EQ("unknown, as its status.json was lost", run.status().earlier);
}

TEST(JobList, GroupsRunsThatDifferInSeedAndRateOnly) {
  RunConfig config;
  config.execution.replicas = 2;
  std::vector<RunConfig> runs(5, config);
  runs[1].seed = 1;
  runs[2].encoding.reset("rope");
  runs[3].learning_rate = 1e-4;
  runs[4].data_seed = 1;
  EXPECT_EQ((std::vector<std::vector<std::size_t>>{{0, 1}, {2}, {3}, {4}}), group_into_jobs(runs));
  for (RunConfig& run : runs) run.execution.replicas = kAutoReplicas;
  EXPECT_EQ(5U, group_into_jobs(runs).size());
}

}  // namespace
}  // namespace che
