// What a run measures on the way, how a longer run goes on from a shorter one, and predictions that are
// stored.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/file_lock.h"
#include "core/files.h"
#include "experiments/exchange/predictions.h"
#include "experiments/learn/job.h"
#include "experiments/measure/cost.h"
#include "experiments/plan/identity.h"
#include "experiments/schedule/pending_work.h"
#include "experiments/statistics/score_summary.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/needs.h"
#include "tests/contains.h"
#include "tests/experiments/learn/final_checkpoint.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;

RunConfig config_of(std::int64_t steps, const std::vector<std::int64_t>& at_steps = {}) {
  RunConfig config;
  config.task.reset("even_pairs");
  config.encoding.reset("randomized_kerple");
  config.encoding.max_position = 128;
  config.model.shape() = {.width = 8, .layers = 1, .heads = 2, .ffn_multiple = 2};
  config.training.batch_size = 8;
  config.training.last_length = 6;
  config.training.steps = steps;
  config.training.warmup_steps = 5;
  config.evaluation = {.listed_lengths = {7, 8, 11}, .at_steps = at_steps};
  config.evaluation.samples = 128;
  config.log.every_steps = 10;
  return config;
}

std::vector<std::string> work(const std::vector<RunFolder>& runs) {
  const std::atomic<int> stop{0};
  std::vector<std::string> warnings;
  const auto note = [&](const Progress& progress) {
    if (progress.phase == Phase::kWarning) warnings.push_back(progress.text);
  };
  EXPECT_EQ(JobOutcome::kDone, work_on_job(runs, note, stop));
  return warnings;
}

RunFolder trained(const fs::path& experiment, const RunConfig& config) {
  const RunFolder run = RunFolder::create(experiment, config);
  work({run});
  return run;
}

std::string bytes(const RunFolder& run, const char* file) { return read_file(run.path() / file); }

std::vector<double> accuracies(const std::vector<EvaluationRow>& rows) {
  std::vector<double> found;
  for (const EvaluationRow& row : rows) found.push_back(row.accuracy);
  return found;
}

TEST(AtSteps, AreMeasuredAndChangeNothingElse) {
  const ScratchFolder scratch;
  const RunFolder plain = trained(scratch.path() / "plain", config_of(30));
  const RunFolder run = trained(scratch.path() / "on_the_way", config_of(30, {10, 25, 30}));
  EXPECT_EQ(plain.id(), run.id());
  for (const char* file : {"checkpoint.bin", "evaluation.csv"})
    EXPECT_EQ(bytes(plain, file), bytes(run, file));
  ASSERT_EQ(2U, run.at_steps().size()) << "the last step is the evaluation itself";
  const RunFolder ten = trained(scratch.path() / "ten", config_of(10));
  EXPECT_EQ(accuracies(ten.evaluation()), accuracies(run.at_steps().at(10)));
  EXPECT_FALSE(fs::exists(plain.path() / "evaluation_at_steps.csv"));
}

// The status of a run knows its time, unless it is lost.
TEST(LongRuns, HaveTimesThatGrow) {
  const ScratchFolder scratch;
  const RunFolder run = trained(scratch.path(), config_of(10));
  fs::remove(run.path() / "status.json");
  work({run});
  const RunFolder longer = trained(scratch.path(), config_of(30));
  EXPECT_EQ(run.id(), longer.status().continued_from);
  const std::vector<MetricsRow> rows = longer.metrics();
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &MetricsRow::seconds));
  EXPECT_LE(rows.back().seconds, longer.status().training_seconds);
}

// Killed between the checkpoint of step 10 and its rows, or after both.
TEST(AtSteps, SurviveAKill) {
  const ScratchFolder scratch;
  const RunFolder ten = trained(scratch.path() / "ten", config_of(10));
  const RunFolder whole = trained(scratch.path() / "whole", config_of(30, {10, 20}));
  for (const bool is_measured : {false, true}) {
    const RunFolder run =
        RunFolder::create(scratch.path() / (is_measured ? "after" : "before"), config_of(30, {10, 20}));
    save_checkpoint(run.path(), run.id(), final_checkpoint(ten));
    std::vector<EvaluationRow> rows = ten.evaluation();
    for (EvaluationRow& row : rows) row.accuracy = 0.125;  // No model has this.
    if (is_measured) run.write_at_steps({{10, rows}, {20, rows}});
    work({run});
    EXPECT_EQ(is_measured ? accuracies(rows) : accuracies(ten.evaluation()),
              accuracies(run.at_steps().at(10)));
    EXPECT_EQ(accuracies(whole.at_steps().at(20)), accuracies(run.at_steps().at(20)))
        << "rows of steps after the checkpoint are measured again";
    EXPECT_EQ(bytes(whole, "checkpoint.bin"), bytes(run, "checkpoint.bin"));
  }
}

TEST(AtSteps, ThatArePassedNeedARunThatIsTrainedAgain) {
  const ScratchFolder scratch;
  const RunFolder run = trained(scratch.path(), config_of(30));
  const std::string evaluation = bytes(run, "evaluation.csv");
  const RunConfig asked = config_of(30, {10, 20});
  {
    const PendingWork work = prepare_training({asked}, scratch.path(), false);
    EXPECT_EQ(1U, work.complete);
    ASSERT_EQ(1U, work.notes.size());
    expect_contains(work.notes[0], {"1 run passed evaluation.at_steps 10, 20", "--retrain"});
  }
  const PendingWork again = prepare_training({asked}, scratch.path(), true);
  ASSERT_EQ(1U, again.jobs.size());
  EXPECT_EQ(0, estimate_work({asked}, scratch.path(), /*retrain=*/false).left.training);
  EXPECT_LT(0, estimate_work({asked}, scratch.path(), /*retrain=*/true).left.training);
  begin_again(scratch.path(), again.to_begin_again);
  work(again.jobs[0]);
  EXPECT_EQ(evaluation, bytes(run, "evaluation.csv"));
  EXPECT_EQ(2U, run.at_steps().size());
  EXPECT_TRUE(fs::exists(run.path() / "evaluation.csv.replaced"));
}

TEST(LongerRun, GoesOnFromTheLongestShorterRun) {
  const ScratchFolder scratch;
  const RunConfig longest = config_of(30, {5, 10, 20});
  const RunFolder expected = trained(scratch.path() / "alone", longest);
  const fs::path shared = scratch.path() / "shared";
  trained(shared, config_of(5));
  const RunFolder shorter = trained(shared, config_of(10, {5}));
  const std::string before = bytes(shorter, "status.json");
  const RunFolder run = RunFolder::create(shared, longest);
  const RunNeeds needs = assess(run, StoredRuns(shared));
  EXPECT_EQ(shorter.id(), needs.continues);
  EXPECT_DOUBLE_EQ(20 * training_step_operations(longest), needs.left.training);
  work({run});
  EXPECT_EQ(shorter.id(), run.status().continued_from);
  for (const char* file : {"checkpoint.bin", "evaluation.csv", "evaluation_at_steps.csv"}) {
    EXPECT_EQ(bytes(expected, file), bytes(run, file)) << file;
  }
  EXPECT_EQ(shorter.metrics().front().seconds, run.metrics().front().seconds);
  EXPECT_EQ(shorter.metrics().size() + 2, run.metrics().size());
  EXPECT_EQ(before, bytes(shorter, "status.json"));
  EXPECT_EQ("", expected.status().continued_from);
}

TEST(LongerRun, GoesOnInLockStep) {
  const ScratchFolder scratch;
  std::vector<RunFolder> alone;
  std::vector<RunFolder> shorter;
  std::vector<RunFolder> longer;
  for (const std::int64_t seed : {0, 1}) {
    RunConfig config = config_of(30);
    config.execution.replicas = 2;
    config.seed = seed;
    alone.push_back(RunFolder::create(scratch.path() / "alone", config));
    longer.push_back(RunFolder::create(scratch.path() / "shared", config));
    config.training.steps = 10;
    shorter.push_back(RunFolder::create(scratch.path() / "shared", config));
  }
  for (const auto& job : {alone, shorter, longer}) work(job);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(shorter[i].id(), longer[i].status().continued_from);
    for (const char* file : {"checkpoint.bin", "evaluation.csv"}) {
      EXPECT_EQ(bytes(alone[i], file), bytes(longer[i], file)) << file;
    }
  }
}

TEST(LongerRun, PassesOverRunsThatItCannotGoOnFrom) {
  const ScratchFolder scratch;
  trained(scratch.path(), config_of(5));
  const RunFolder damaged = trained(scratch.path(), config_of(20));
  fs::resize_file(damaged.path() / "checkpoint.bin", 100);
  const RunFolder run = RunFolder::create(scratch.path(), config_of(30));
  const std::vector<std::string> warnings = work({run});
  ASSERT_FALSE(warnings.empty());
  expect_contains(warnings[0], {damaged.id()});
  EXPECT_EQ(RunFolder::create(scratch.path(), config_of(5)).id(), run.status().continued_from);
  EXPECT_TRUE(fs::exists(damaged.path() / "checkpoint.bin")) << "another run's files stay as they are";
  // Another warm-up is another run; a step that was passed without rows cannot be measured.
  RunConfig other = config_of(30);
  other.training.warmup_steps = 4;
  // One that cannot be read is none to go on from.
  const std::string loop = run.id().substr(0, run.id().rfind('-') + 1) + "aaaaaaaaaaaa";
  fs::create_symlink(loop, scratch.path() / "runs" / loop);
  const StoredRuns stored(scratch.path());
  EXPECT_NE("", assess(RunFolder::at(scratch.path(), config_of(40)), stored).continues);
  // A config is read once, however many runs ask.
  const std::string config = bytes(run, "config.yaml");
  std::ofstream(run.path() / "config.yaml") << "torn";
  EXPECT_EQ(run.id(), assess(RunFolder::at(scratch.path(), config_of(50)), stored).continues);
  EXPECT_NE(run.id(),
            assess(RunFolder::at(scratch.path(), config_of(50)), StoredRuns(scratch.path())).continues);
  std::ofstream(run.path() / "config.yaml") << config;
  // Whoever names no stored runs asks for none, in the working folder either.
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  EXPECT_EQ("", assess(RunFolder::at(scratch.path(), config_of(40))).continues);
  fs::current_path(before);
  EXPECT_EQ("", assess(RunFolder::at(scratch.path(), other), stored).continues);
  EXPECT_EQ("", assess(RunFolder::at(scratch.path(), config_of(40, {3})), stored).continues);
}

// A copy of the other files of a run over an older copy of it.
TEST(LostRows, OfTrainingAreSetAside) {
  const ScratchFolder scratch;
  const RunFolder run = trained(scratch.path(), config_of(30));
  const std::string evaluation = bytes(run, "evaluation.csv");
  run.write_metrics({run.metrics().front()});
  RunStatus status = run.status();
  status.state = RunState::kInterrupted;
  status.step = 10;
  run.write_status(status);
  const std::vector<std::string> warnings = work({run});
  ASSERT_EQ(1U, warnings.size());
  expect_contains(warnings.front(), {"metrics.csv lacks rows before step 30", "metrics.csv.replaced"});
  EXPECT_TRUE(run.metrics().empty());
  EXPECT_EQ(RunState::kFinished, run.status().state);
  EXPECT_EQ(evaluation, bytes(run, "evaluation.csv"));
}

// Here the rows of a shorter run are lost, and those that the longer one adds cover less than a tenth of its
// steps.
TEST(LostRows, OfAShorterRunLeaveNoTrainingAccuracy) {
  const ScratchFolder scratch;
  const auto trained_from = [&](const std::string& folder, bool loses_rows) {
    const RunFolder shorter = trained(scratch.path() / folder, config_of(42));
    if (loses_rows) shorter.write_metrics({});
    const RunFolder run = trained(scratch.path() / folder, config_of(45));
    return has_final_steps(run.metrics(), run.config().log.every_steps);
  };
  EXPECT_TRUE(trained_from("whole", false));
  EXPECT_FALSE(trained_from("lost", true));
}

// The batch system starts an interrupted task again.
TEST(Locks, AStopWhileOneIsWaitedForIsAnInterruption) {
  const ScratchFolder scratch;
  const RunFolder run = trained(scratch.path(), config_of(10));
  const FileLock lock(run.path());
  const std::atomic<int> stop{15};
  const auto ignore = [](const Progress&) {};
  RunConfig asked = run.config();
  asked.evaluation.listed_lengths.push_back(12);
  EXPECT_EQ(JobOutcome::kInterrupted, work_on_job({run}, ignore, stop));
  EXPECT_EQ(JobOutcome::kInterrupted, evaluate_stored_model(run, asked, ignore, stop));
}

// An evaluation without a new row changes nothing.
TEST(Evaluations, NameTheirProgramAndTheOneBefore) {
  const ScratchFolder scratch;
  const RunFolder run = trained(scratch.path(), config_of(10));
  RunStatus before = run.status();
  before.processor = "a made-up processor";
  run.write_status(before);
  RunConfig asked = run.config();
  asked.evaluation.listed_lengths.push_back(12);
  std::atomic<int> stop{15};
  const auto evaluate = [&] {
    return evaluate_stored_model(
        run, asked, [](const Progress&) {}, stop);
  };
  EXPECT_EQ(JobOutcome::kInterrupted, evaluate());
  EXPECT_EQ(computed_by(before), computed_by(run.status()));
  stop = 0;
  EXPECT_EQ(JobOutcome::kDone, evaluate());
  EXPECT_NE(computed_by(before), computed_by(run.status()));
  EXPECT_EQ(computed_by(before), run.status().earlier);
}

TEST(Predictions, HaveTheAccuraciesOfTheRun) {
  const ScratchFolder scratch;
  RunConfig config = config_of(10);
  const RunFolder run = trained(scratch.path(), config);
  const std::string evaluation = bytes(run, "evaluation.csv");
  const fs::path file = run.path() / "predictions.jsonl";
  EXPECT_FALSE(fs::exists(file));
  config.evaluation.predictions = true;
  EXPECT_EQ(run.id(), run_id(config));
  for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{7, 8, 11}, {7, 9}}) {
    config.evaluation.listed_lengths = lengths;
    const RunFolder asked = RunFolder::create(scratch.path(), config);
    EXPECT_FALSE(assess(asked).is_complete()) << "asked for of a run that is finished, or at other lengths";
    work({asked});
    EXPECT_TRUE(assess(asked).is_complete());
    const ScoredPredictions scored = score_predictions(file);
    EXPECT_EQ("che-randomized_kerple", scored.model);
    EXPECT_EQ(accuracies(present_rows(run.evaluation(), config)), accuracies(scored.rows));
    EXPECT_EQ(lengths.size(), scored.rows.size());
  }
  EXPECT_TRUE(
      evaluation.starts_with("length,samples,seed,eval_dropout,accuracy,loss,accuracy_se,checksum\n"));
}

}  // namespace
}  // namespace che
