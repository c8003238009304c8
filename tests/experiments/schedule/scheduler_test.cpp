#include "experiments/schedule/scheduler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/file_lock.h"
#include "core/files.h"
#include "core/process.h"
#include "experiments/schedule/pending_work.h"
#include "experiments/schedule/worker_process.h"
#include "experiments/store/checkpoint.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

constexpr int exited(int code) { return code << 8; }

TEST(ExitReason, IsThatOfTheProcess) {
  EXPECT_EQ("", exit_reason(exited(0)));
  EXPECT_EQ("", exit_reason(exited(kExitAgain)));
  expect_contains(exit_reason(exited(3)), {"exit code 3", "run again"});
  expect_contains(exit_reason(SIGKILL), {"signal 9", "when memory ran out"});
}

TEST(WorkerTask, KeepsFoldersApartFromOptions) {
  const WorkerTask task{.folders = {"-x/runs/a", "b"}, .evaluation = {}, .parent = 7};
  EXPECT_EQ((std::vector<std::string>{"worker", "--parent", "7", "--", "-x/runs/a", "b"}), task.arguments());
}

TEST(ReportJob, MarksRunsOfADeadWorkerFailed) {
  const ScratchFolder scratch;
  const RunFolder run =
      store_run(scratch.path(), made_up_config("even_pairs", "rope", 0), RunState::kTraining);
  const RunFolder done =
      store_run(scratch.path(), made_up_config("even_pairs", "rope", 1), RunState::kFinished, 0.5);
  const JobReport report = report_job({run, done}, SIGKILL, std::nullopt);
  EXPECT_EQ(JobEnd::kFailed, report.end);
  ASSERT_EQ(2U, report.lines.size());
  expect_contains(report.lines[0], {run.id() + ": failed: ", "signal 9"});
  expect_contains(report.lines[1], {done.id() + ": finished, score "});
  EXPECT_EQ(RunState::kFailed, run.status().state);
  EXPECT_EQ(RunState::kFinished, done.status().state);
}

TEST(ReportJob, DistinguishesInterruptedFromDone) {
  const ScratchFolder scratch;
  const RunFolder stopped =
      store_run(scratch.path(), made_up_config("even_pairs", "rope", 0), RunState::kInterrupted);
  const RunFolder done =
      store_run(scratch.path(), made_up_config("even_pairs", "rope", 1), RunState::kFinished, 0.5);
  EXPECT_EQ(JobEnd::kInterrupted, report_job({stopped}, exited(kExitAgain), std::nullopt).end);
  EXPECT_EQ(JobEnd::kDone, report_job({done}, exited(0), std::nullopt).end);
  // A finished run that its worker could do nothing more for is no success.
  const JobReport failed = report_job({done}, exited(1), std::nullopt);
  EXPECT_EQ(JobEnd::kFailed, failed.end);
}

TEST(ReportJob, OfAnEvaluationMarksNothing) {
  const ScratchFolder scratch;
  const RunFolder run =
      store_run(scratch.path(), made_up_config("even_pairs", "rope", 0), RunState::kFinished, 0.5);
  const EvaluationRequest request{
      .lengths = IntegerRange{.first = 900, .last = 901}, .samples = 64, .evaluation_settings = {}};
  const JobReport report = report_job({run}, exited(1), request);
  EXPECT_EQ(JobEnd::kFailed, report.end);
  expect_contains(report.lines[0], {"not evaluated"});
  EXPECT_EQ(JobEnd::kInterrupted, report_job({run}, exited(kExitAgain), request).end);
  EXPECT_EQ(RunState::kFinished, run.status().state);
}

// Returns the GPUs that a worker on `gpu` sees, where this process sees 3 and 7.
std::string visible_to_worker(const std::optional<WorkerGpu>& gpu) {
  const ScratchFolder scratch;
  const std::filesystem::path program = scratch.path() / "worker";
  write_file_atomically(program, "#!/bin/sh\necho \"$CUDA_VISIBLE_DEVICES\"\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::vector<RunFolder> job = {
      RunFolder::create(scratch.path(), made_up_config("even_pairs", "rope"))};
  ::setenv("CUDA_VISIBLE_DEVICES", "3,7", 1);
  WorkerProcess worker(program, {.folders = {job.front().path().string()}, .evaluation = {}, .parent = 1},
                       job, gpu);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  std::string lines;
  while (worker.read_lines([&](std::string_view line) { lines += std::string(line) + "\n"; })) {
  }
  EXPECT_EQ(worker.wait(), 0);
  return lines;
}

TEST(WorkerProcess, SeesItsGpuAlone) {
  EXPECT_EQ(visible_to_worker(WorkerGpu{"7", true}), "7\n");
  EXPECT_EQ(visible_to_worker(WorkerGpu{"3", true}), "3\n");
}

// The run names one of them by number.
TEST(WorkerProcess, SeesAllGpusWhereTheRunNamesItsOwn) {
  EXPECT_EQ(visible_to_worker(WorkerGpu{"7", false}), "3,7\n");
  EXPECT_EQ(visible_to_worker(std::nullopt), "3,7\n");
}

// With --max-jobs a run that fails each time would keep the others from ever starting.
TEST(RunJobs, StartsRunsThatFailedLast) {
  const ScratchFolder scratch;
  std::vector<RunConfig> configs;
  for (const std::int64_t seed : {0, 1, 2}) configs.push_back(made_up_config("even_pairs", "rope", seed));
  store_run(scratch.path(), configs[0], RunState::kFailed);
  const std::vector<std::vector<RunFolder>> jobs =
      prepare_training(configs, scratch.path(), /*retrain=*/false).jobs;
  ASSERT_EQ(3U, jobs.size());
  for (const std::size_t job : {0U, 1U, 2U})
    EXPECT_EQ(configs[(job + 1) % 3].seed, jobs[job].front().config().seed);
  EXPECT_EQ(1, run_jobs(jobs, {.workers = 1, .max_jobs = 1, .evaluation = {}}, "/bin/false"));
  EXPECT_EQ(RunState::kFailed, jobs[0].front().status().state);
  EXPECT_EQ(RunState::kWaiting, jobs[1].front().status().state) << "it is left";
}

// Its checkpoint goes on: the config is what this call asks for, and is written anew.
TEST(RunJobs, AreThereForARunWhoseConfigIsDamaged) {
  const ScratchFolder scratch;
  const RunConfig config = made_up_config("even_pairs", "rope", 0);
  const RunFolder run = store_run(scratch.path(), config, RunState::kInterrupted);
  put_checkpoint(run);
  for (const char* text : {"", "name: to"}) {
    write_file_atomically(run.path() / "config.yaml", text);
    EXPECT_EQ(1U, prepare_training({config}, scratch.path(), /*retrain=*/false).jobs.size());
    EXPECT_EQ(run.id(), RunFolder::open(run.path()).id());
  }
  std::filesystem::remove(run.path() / "config.yaml");
  EXPECT_EQ(1U, prepare_training({config}, scratch.path(), /*retrain=*/false).jobs.size());
  EXPECT_TRUE(has_checkpoint(run.path()));
}

TEST(RunJobs, BeginsRunsAgainAsTheirJobsStart) {
  const ScratchFolder scratch;
  std::vector<std::vector<RunFolder>> jobs;
  PassedSteps passed;
  for (const std::int64_t seed : {0, 1, 2}) {
    RunConfig config = made_up_config("even_pairs", "rope", seed);
    config.evaluation.at_steps = {500};
    const RunFolder run = store_run(scratch.path(), config, RunState::kFinished, 0.5);
    put_checkpoint(run);
    passed[run.id()] = {500};
    jobs.push_back({run});
  }
  const FileLock held(jobs[0].front().path());  // As if another process worked on it.
  EXPECT_EQ(1, run_jobs(jobs, {.workers = 1, .max_jobs = 2, .evaluation = {}, .to_begin_again = passed},
                        "/bin/false"));
  EXPECT_EQ(RunState::kFinished, jobs[0].front().status().state) << "it is not this call's to begin again";
  EXPECT_EQ(RunState::kFailed, jobs[1].front().status().state) << "its worker has died";
  EXPECT_EQ(0, jobs[1].front().status().step);
  EXPECT_EQ(RunState::kFinished, jobs[2].front().status().state) << "its job has not started";
  EXPECT_TRUE(has_checkpoint(jobs[2].front().path()));
}

}  // namespace
}  // namespace che
