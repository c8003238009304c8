#include "experiments/schedule/scheduler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

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
      .lengths = IntegerRange{.first = 900, .last = 901}, .samples = 64, .encoding_settings = {}};
  const JobReport report = report_job({run}, exited(1), request);
  EXPECT_EQ(JobEnd::kFailed, report.end);
  expect_contains(report.lines[0], {"not evaluated"});
  EXPECT_EQ(JobEnd::kInterrupted, report_job({run}, exited(kExitAgain), request).end);
  EXPECT_EQ(RunState::kFinished, run.status().state);
}

}  // namespace
}  // namespace che
