#include "experiments/schedule/pending_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/process.h"
#include "core/version.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "experiments/store/checkpoint.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using PrepareTraining = ScratchTest;

RunConfig config(std::int64_t seed) { return made_up_config("even_pairs", "rope", seed); }

TEST_F(PrepareTraining, TakesWhatIsNotComplete) {
  store_run(scratch_.path(), config(0), RunState::kFinished, 0.5);
  store_run(scratch_.path(), config(1), RunState::kInterrupted);
  store_run(scratch_.path(), config(2), RunState::kFailed);
  const PendingWork work =
      prepare_training({config(0), config(1), config(2), config(3)}, scratch_.path(), /*retrain=*/false);
  EXPECT_EQ(4U, work.runs());
  EXPECT_EQ(1U, work.complete);
  ASSERT_EQ(3U, work.jobs.size());
  EXPECT_EQ(run_id(config(1)), work.jobs[0].front().id());
  EXPECT_TRUE(std::filesystem::exists(work.jobs[2].front().path() / "config.yaml"))
      << "its config is not stored";
}

// How a complete run was computed stays known; what it is asked for beside that is stored.
TEST_F(PrepareTraining, KeepsTheExecutionOfCompleteRuns) {
  store_run(scratch_.path(), config(0), RunState::kFinished, 0.5);
  store_run(scratch_.path(), config(1), RunState::kInterrupted);
  std::vector<RunConfig> others{config(0), config(1)};
  for (RunConfig& other : others) other.execution.threads = 2;
  others[0].log.tensorboard = true;  // It changes no result, either.
  const auto threads_of = [&](const RunConfig& run) {
    return RunFolder::open(scratch_.path() / "runs" / run_id(run)).config().execution.threads;
  };
  EXPECT_EQ(1U, prepare_training(others, scratch_.path(), /*retrain=*/false).complete);
  EXPECT_EQ(1, threads_of(others[0]));
  EXPECT_EQ(2, threads_of(others[1]));
}

TEST_F(PrepareTraining, SaysWhichLogACompleteRunDoesNotGet) {
  const RunFolder stored = store_run(scratch_.path(), config(0), RunState::kFinished, 0.5);
  RunConfig run = config(0);
  const auto notes = [&] { return prepare_training({run}, scratch_.path(), /*retrain=*/false).notes; };
  run.log = {.every_steps = 50, .tensorboard = true};
  EXPECT_THAT(notes(), testing::ElementsAre(testing::HasSubstr("stay as stored in 1 run"),
                                            testing::HasSubstr("no event file to 1 complete run")));
  std::ofstream(stored.path() / kEventsFile);
  run.log.every_steps = 100;
  EXPECT_TRUE(notes().empty());
}

TEST_F(PrepareTraining, RefusesToReplaceResultsUnasked) {
  store_run(scratch_.path(), config(0), RunState::kFinished, 0.5);  // Its model is pruned.
  RunConfig longer = config(0);
  longer.evaluation.last_length += 10;
  expect_contains(message_of([&] {
                    prepare_training({longer, config(1)}, scratch_.path(), /*retrain=*/false);
                  }),
                  {"1 trained run", run_id(config(0)), "--retrain"});
  EXPECT_FALSE(std::filesystem::exists(RunFolder::at(scratch_.path(), config(1)).path()))
      << "a refusal wrote";
  EXPECT_EQ(1U, prepare_training({longer}, scratch_.path(), /*retrain=*/true).jobs.size());
}

TEST_F(PrepareTraining, RefusesAnotherCorpusOfAStoredName) {
  const auto text = [](const std::string& hash) {
    RunConfig run = read("name: x\nbase: {encoding: kerple, text: austen}\n").runs.at(0);
    if (!hash.empty()) run.text.hash = hash;
    return run;
  };
  EXPECT_EQ(1U, prepare_training({text("")}, scratch_.path(), /*retrain=*/false).jobs.size());
  const RunConfig other = text("0123456789abcdef");
  expect_error(ErrorKind::kUsage,
               {"two corpora are called austen", "0123456789abcdef", "a folder of its own"},
               [&] { prepare_training({other}, scratch_.path(), /*retrain=*/false); });
  EXPECT_FALSE(std::filesystem::exists(RunFolder::at(scratch_.path(), other).path())) << "a refusal wrote";
  EXPECT_EQ(2U, prepare_training({text(""), config(0)}, scratch_.path(), /*retrain=*/false).runs());
}

TEST_F(PrepareTraining, CountsRunsThatOnlyLackTestLengths) {
  put_checkpoint(store_run(scratch_.path(), config(0), RunState::kFinished, 0.5));
  store_run(scratch_.path(), config(1), RunState::kInterrupted);
  RunConfig longer = config(0);
  longer.evaluation.last_length += 10;
  const PendingWork work = prepare_training({longer, config(1)}, scratch_.path(), /*retrain=*/false);
  EXPECT_EQ(0U, work.complete);
  EXPECT_EQ(2U, work.configs.size());
  EXPECT_EQ(1U, work.trained);
}

// A finished training keeps its log, and runs of one job have one.
TEST_F(PrepareTraining, RunsWhoseLogsDifferAreNotOneJob) {
  RunConfig trained = config(0);
  RunConfig untrained = config(1);
  for (RunConfig* const run : {&trained, &untrained}) run->execution.replicas = 2;
  put_checkpoint(store_run(scratch_.path(), trained, RunState::kFinished, 0.5));
  const auto jobs = [&](std::int64_t every_steps) {
    for (RunConfig* const run : {&trained, &untrained}) run->log.every_steps = every_steps;
    trained.evaluation.last_length = untrained.evaluation.last_length = config(0).evaluation.last_length + 10;
    return prepare_training({trained, untrained}, scratch_.path(), /*retrain=*/false).jobs.size();
  };
  EXPECT_EQ(1U, jobs(config(0).log.every_steps));
  EXPECT_EQ(2U, jobs(config(0).log.every_steps + 1));
}

// Other test lengths cannot be measured on the way, either, without training again.
TEST_F(PrepareTraining, AStepWithRowsAtOtherLengthsIsPassed) {
  RunConfig run = config(0);
  run.evaluation.at_steps = {500};
  const RunFolder folder = store_run(scratch_.path(), run, RunState::kFinished, 0.5);
  put_checkpoint(folder);
  const auto notes = [&] { return prepare_training({run}, scratch_.path(), /*retrain=*/false).notes; };
  ASSERT_EQ(1U, notes().size());
  expect_contains(notes()[0], {"1 run passed evaluation.at_steps 500"});
  folder.write_at_steps({{500, folder.evaluation()}});
  EXPECT_TRUE(notes().empty());
  run.evaluation.last_length += 10;
  EXPECT_THAT(notes(), testing::Contains(testing::HasSubstr("1 run passed evaluation.at_steps 500")));
  EXPECT_EQ(1U, prepare_training({run}, scratch_.path(), /*retrain=*/true).to_begin_again.size());
}

// A run that was interrupted on another machine, and one that was measured on two of them.
TEST_F(PrepareTraining, SaysWhereAnotherProgramBeganARun) {
  const RunFolder folder = store_run(scratch_.path(), config(0), RunState::kInterrupted);
  const auto notes = [&] { return prepare_training({config(0)}, scratch_.path(), false).notes; };
  EXPECT_TRUE(notes().empty()) << "it has no model";
  put_checkpoint(folder);
  expect_contains(notes().at(0), {"1 run goes on from what another program, processor or setting worked on",
                                  "che 0.1.0, commit 0123abc, on an unknown processor"});
  RunStatus status = folder.status();
  const RunStatus before = status;
  status.version = program_version();
  status.git_commit = git_commit();
  status.processor = processor_name();
  folder.write_status(status);
  EXPECT_TRUE(notes().empty());
  RunConfig otherwise = config(0);
  otherwise.execution.kernels = Kernels::kReference;
  otherwise.execution.micro_batch = 16;
  expect_contains(prepare_training({otherwise}, scratch_.path(), false).notes.at(0),
                  {"here is " + computed_by(status) + " (reference kernels, micro-batches of 16)"});
  for (int i = 0; i < 2; ++i) add_earlier(status, before);
  EXPECT_EQ(computed_by(before), status.earlier);
  status.earlier += "\x1b[2J";
  folder.write_status(status);
  expect_contains(notes().at(0), {computed_by(before) + "\\x1b[2J; " + computed_by(status) + ", here is"});
}

// Its status is of a later step than its checkpoint, from which it goes on.
TEST_F(PrepareTraining, AStepBehindTheCheckpointIsNotPassed) {
  RunConfig run = config(0);
  run.evaluation.at_steps = {400};
  const RunFolder folder = store_run(scratch_.path(), run, RunState::kTraining);
  RunStatus status = folder.status();
  status.step = 450;
  folder.write_status(status);
  for (const std::int64_t step : {300, 420}) {
    save_checkpoint(folder.path(), folder.id(), {.step = step});
    const PendingWork work = prepare_training({run}, scratch_.path(), /*retrain=*/true);
    EXPECT_EQ(step == 300 ? 0U : 1U, work.to_begin_again.size()) << step;
  }
}

TEST_F(PrepareTraining, SetsRowsOnTheWayAsideWhereARunBeginsAgain) {
  RunConfig run = config(0);
  run.evaluation.at_steps = {400, 500};
  const RunFolder folder = store_run(scratch_.path(), run, RunState::kFinished, 0.5);
  folder.write_at_steps({{400, folder.evaluation()}});
  const PendingWork work = prepare_training({run}, scratch_.path(), /*retrain=*/true);
  EXPECT_EQ(1U, work.to_begin_again.size());
  EXPECT_EQ(1U, folder.at_steps().size()) << "nothing is gone yet";
  begin_again(scratch_.path(), work.to_begin_again);
  begin_again(scratch_.path(), work.to_begin_again);  // A second call finds nothing to do.
  EXPECT_TRUE(folder.at_steps().empty());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "evaluation_at_steps.csv.replaced"));
}

// As after `che unpack`: a bundle leaves predictions out, and models.
TEST_F(PrepareTraining, CountsARunThatOnlyLacksPredictionsAsDone) {
  RunConfig run = config(0);
  run.evaluation.predictions = true;
  const RunFolder folder = store_run(scratch_.path(), run, RunState::kFinished, 0.5);
  {
    const PendingWork work = prepare_training({run}, scratch_.path(), /*retrain=*/false);
    EXPECT_EQ(1U, work.complete);
    ASSERT_EQ(1U, work.notes.size());
    expect_contains(work.notes[0], {"1 run counted as done without the predictions", folder.id()});
  }
  EXPECT_EQ(1U, prepare_training({run}, scratch_.path(), /*retrain=*/true).jobs.size());
  save_checkpoint(folder.path(), folder.id(), {.step = 1000});
  EXPECT_EQ(1U, prepare_training({run}, scratch_.path(), /*retrain=*/false).jobs.size());
}

// A batch system may start an old task once more, after a call that has asked for further steps.
TEST_F(PrepareTraining, BeginsAgainForTheStepsThatWereAskedForThen) {
  RunConfig run = config(0);
  run.evaluation.at_steps = {400, 500};
  const RunFolder folder = store_run(scratch_.path(), run, RunState::kFinished, 0.5);
  folder.write_at_steps({{400, folder.evaluation()}});
  prepare_training({run}, scratch_.path(), /*retrain=*/false);
  begin_again(scratch_.path(), {{folder.id(), {400}}});
  EXPECT_EQ(RunState::kFinished, folder.status().state);
  begin_again(scratch_.path(), {{folder.id(), {400, 500}}});
  EXPECT_EQ(RunState::kWaiting, folder.status().state);
}

TEST_F(PrepareTraining, SaysWhereAnotherBuildOrProcessorTrainedAShorterRun) {
  const RunFolder shorter = store_run(scratch_.path(), config(0), RunState::kFinished, 0.5);
  put_checkpoint(shorter);
  RunConfig longer = config(0);
  longer.training.steps = 2000;
  const auto notes = [&] { return prepare_training({longer}, scratch_.path(), /*retrain=*/false).notes; };
  ASSERT_EQ(2U, notes().size());
  expect_contains(notes()[0], {"goes on from step 1000 of " + shorter.id()});
  expect_contains(notes()[1], {"not bit for bit", "che 0.1.0, commit 0123abc, on an unknown processor"});
  RunStatus status = shorter.status();
  status.version = program_version();
  status.git_commit = git_commit();
  status.processor = processor_name();
  shorter.write_status(status);
  EXPECT_EQ(1U, notes().size());
}

TEST_F(PrepareTraining, NeedsReplicasThatSomebodyHasChosen) {
  RunConfig open = config(0);
  open.execution.replicas = kAutoReplicas;
  EXPECT_THAT(message_of([&] {
                prepare_training({config(1), open}, scratch_.path() / "sweep", false);
              }),
              testing::StartsWith("execution.replicas: auto "));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "sweep")) << "a refusal wrote";
}

TEST_F(PrepareTraining, LocksTheExperiment) {
  const PendingWork work = prepare_training({config(0)}, scratch_.path(), false);
  EXPECT_THROW(prepare_training({config(0)}, scratch_.path(), false), Error);
}

TEST(PrepareEvaluation, LeavesOutWhatHasNoFinalModelAndSaysWhich) {
  const ScratchFolder scratch;
  const RunFolder finished = store_run(scratch.path(), config(0), RunState::kFinished, 0.5);
  put_checkpoint(finished);
  const RunFolder stopped = store_run(scratch.path(), config(1), RunState::kInterrupted);
  RunFolder::create(scratch.path(), config(2));
  std::ofstream(store_run(scratch.path(), config(3), RunState::kFinished, 0.5).path() / "status.json")
      << "torn";
  std::vector<std::string> warnings;
  const EvaluationRequest further{
      .lengths = IntegerRange{.first = 900, .last = 901}, .samples = 64, .evaluation_settings = {}};
  const auto warn = [&](const std::string& warning) { warnings.push_back(warning); };
  {
    const PendingWork work = prepare_evaluation(scratch.path(), further, {}, warn);
    EXPECT_EQ(4U, work.runs());
    EXPECT_EQ(3U, work.left_out);
    ASSERT_EQ(1U, work.jobs.size());
    EXPECT_EQ(finished.id(), work.jobs[0].front().id());
  }
  ASSERT_EQ(3U, warnings.size());
  expect_contains(warnings[0] + warnings[1] + warnings[2],
                  {stopped.id(), "not finished but interrupted", "status.json", "1 of 4 runs waiting"});
  const EvaluationConfig& own = config(0).evaluation;
  const EvaluationRequest present{
      .lengths = IntegerRange{.first = own.first_length, .last = own.last_length, .step = own.length_step},
      .samples = own.samples,
      .evaluation_settings = {}};
  EXPECT_EQ(1U, prepare_evaluation(scratch.path(), present, {}, warn).complete);
}

// A text has longer windows than a task has samples.
TEST(PrepareEvaluation, AllowsTheLengthsOfWhatARunIsAbout) {
  const auto asked = [](std::int64_t length) {
    return EvaluationRequest{
        .lengths = IntegerRange{.first = length, .last = length}, .samples = 64, .evaluation_settings = {}};
  };
  const RunConfig text = read("name: x\nbase: {encoding: kerple, text: austen}\n").runs.at(0);
  EXPECT_EQ(asked(20'000).applied_to(text).evaluation.lengths(), std::vector<std::int64_t>{20'000});
  EXPECT_EQ(longest_window(asked(20'000).applied_to(text).evaluation), 20'000);
  EXPECT_EQ(longest_window(asked(16).applied_to(text).evaluation), longest_window(text.evaluation));
  expect_error(ErrorKind::kUsage,
               {"--lengths: got 1000001; allowed with a text: whole numbers from 1 to 1000000"},
               [&] { asked(1'000'001).applied_to(text); });
  expect_error(ErrorKind::kUsage, {"--lengths: got 20000; allowed with tasks: whole numbers from 1 to 10000"},
               [&] { asked(20'000).applied_to(config(0)); });
}

TEST(PrepareEvaluation, RefusesWindowsThatTheCorpusDoesNotHave) {
  const ScratchFolder scratch;
  const RunConfig text =
      read("name: x\nbase: {encoding: kerple, text: austen, evaluation: {lengths: [128]}}\n").runs.at(0);
  put_checkpoint(store_run(scratch.path(), text, RunState::kFinished, 0.5));
  const auto asked = [&](std::int64_t length) {
    return prepare_evaluation(
        scratch.path(),
        {.lengths = IntegerRange{.first = length, .last = length}, .samples = {}, .evaluation_settings = {}});
  };
  EXPECT_EQ(1U, asked(20'000).jobs.size());
  expect_error(ErrorKind::kUsage, {"no document of the test part of austen is longer than 500000 tokens"},
               [&] { asked(500'000); });
}

TEST(PrepareEvaluation, LeavesOutRunsThatCannotHaveALength) {
  const ScratchFolder scratch;
  RunConfig randomized = config(0);
  randomized.encoding.reset("randomized_rope");
  const RunFolder refused = store_run(scratch.path(), randomized, RunState::kFinished, 0.5);
  const RunFolder run = store_run(scratch.path(), config(0), RunState::kFinished, 0.5);
  put_checkpoint(refused);
  put_checkpoint(run);
  std::vector<std::string> warnings;
  const PendingWork work = prepare_evaluation(
      scratch.path(),
      {.lengths = IntegerRange{.first = 5'000, .last = 5'000}, .samples = {}, .evaluation_settings = {}}, {},
      [&](const std::string& warning) { warnings.push_back(warning); });
  ASSERT_EQ(1U, work.jobs.size());
  EXPECT_EQ(run.id(), work.jobs[0].front().id());
  EXPECT_EQ(1U, work.left_out);
  ASSERT_EQ(1U, warnings.size());
  expect_contains(warnings[0], {"left out: ", refused.id(), "randomized positions are too few"});
}

TEST(PrepareEvaluation, PassesOverEncodingsWithoutTheSettingAndRefusesWhenNoneHasIt) {
  const ScratchFolder scratch;
  RunConfig kerple = config(0);
  kerple.encoding.reset("kerple");
  put_checkpoint(store_run(scratch.path(), kerple, RunState::kFinished, 0.5));
  const EvaluationRequest scaled{
      .lengths = {}, .samples = {}, .evaluation_settings = OptionValues{{"scaling", "yarn"}}};
  EXPECT_THAT(message_of([&] { prepare_evaluation(scratch.path(), scaled); }),
              testing::HasSubstr("no run has an encoding or a model that takes scaling=yarn"));
  RunConfig rope = config(0);
  rope.encoding.reset("rope");
  const RunFolder run = store_run(scratch.path(), rope, RunState::kFinished, 0.5);
  put_checkpoint(run);
  {
    const PendingWork work = prepare_evaluation(scratch.path(), scaled);
    ASSERT_EQ(1U, work.jobs.size());
    EXPECT_EQ(run.id(), work.jobs[0].front().id());
    EXPECT_EQ(0U, work.left_out);
  }
  // The run's own setting is measured already.
  const EvaluationRequest own{
      .lengths = {}, .samples = {}, .evaluation_settings = OptionValues{{"scaling", "none"}}};
  EXPECT_EQ(1U, prepare_evaluation(scratch.path(), own).complete);
}

TEST(PrepareEvaluation, ChangesOneSettingOfARun) {
  const ScratchFolder scratch;
  RunConfig rope = config(0);
  rope.encoding.reset("rope");
  rope = with_evaluation_settings(rope, {{"scaling", "yarn"}, {"beta_fast", "16"}});
  put_checkpoint(store_run(scratch.path(), rope, RunState::kFinished, 0.5));
  const PendingWork work = prepare_evaluation(
      scratch.path(),
      {.lengths = {}, .samples = {}, .evaluation_settings = OptionValues{{"beta_fast", "8"}}});
  ASSERT_EQ(1U, work.configs.size());
  EXPECT_EQ("beta_fast=8;scaling=yarn", evaluation_settings_text(evaluation_settings(work.configs[0])));
}

// It does not say that no run takes the setting, which would be another problem.
TEST(PrepareEvaluation, NamesALengthThatNoRunCanHaveWhateverIsSet) {
  const ScratchFolder scratch;
  const auto asked = [&](std::int64_t length, OptionValues settings) {
    return prepare_evaluation(scratch.path(), {.lengths = IntegerRange{.first = length, .last = length},
                                               .samples = {},
                                               .evaluation_settings = std::move(settings)});
  };
  RunConfig randomized = config(0);
  randomized.encoding.reset("randomized_rope");
  const RunFolder run = store_run(scratch.path(), randomized, RunState::kFinished, 0.5);
  put_checkpoint(run);
  EXPECT_EQ(1U, asked(500, {{"scaling", "none"}}).jobs.size());
  for (const char* scaling : {"none", "ntk"}) {
    expect_error(ErrorKind::kUsage, {"randomized positions are too few", "longest sequence"}, [&] {
      asked(5'000, {{"scaling", scaling}});
    });
  }
  expect_error(ErrorKind::kUsage, {"--lengths: got 20000; allowed with tasks"}, [&] {
    asked(20'000, {{"scaling", "none"}});
  });
}

}  // namespace
}  // namespace che
