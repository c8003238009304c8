// Tests sweeps: interruption, resume, damage, further runs and lengths.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/file_lock.h"
#include "core/files.h"
#include "core/lock_holder.h"
#include "core/process.h"
#include "tests/cli/program_test.h"

namespace che {
namespace {

class SweepProgramTest : public ProgramTest {};

// A damaged run leaves the others in the table, and the next `che run` repairs it.
TEST_F(SweepProgramTest, OneDamagedFileStopsNothing) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto whole = contents(results(), "evaluation.csv");
  for (const char* name : {"config.yaml", "metrics.csv", "evaluation.csv", "status.json"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path file =
        std::filesystem::path(results()) / contents(results(), "config.yaml").begin()->first;
    const std::filesystem::path damaged = file.parent_path() / name;
    std::filesystem::resize_file(damaged, std::filesystem::file_size(damaged) / 2);
    expect_contains(output_of({"table", results()}), {"che: warning: ", damaged.string(), "reverse_string"});
    EXPECT_EQ(0, che({"plot", results()}).exit_code);
    expect_contains(output_of({"run", small_config(), "-o", results()}), {damaged.string()});
    EXPECT_EQ(whole, contents(results(), "evaluation.csv"));
    EXPECT_FALSE(contains(che({"table", results()}).output, "warning"));
  }
}

TEST_F(SweepProgramTest, ListsAPlanWithoutRunning) {
  expect_contains(
      output_of({"run", small_config(), "--dry-run", "-o", results()}),
      {"2 runs in 2 cells, 0 done; to do: ", " in 2 jobs; about ", "by measured steps of each encoding",
       "; device: cpu; ", "\nmemory of a job: about ", " GiB (submit --mem "});
  expect_contains(output_of({"run", small_config(), "--dry-run", "training.batch_size=1000000",
                             "training.last_length=1000", "-o", results()}),
                  {" GiB are available here: a job that needs more than that fails"});
  const std::string list =
      output_of({"run", small_config(), "--list", "--only", "task=even_pairs", "-o", results()});
  EXPECT_TRUE(list.starts_with("waiting     even_pairs-dape_kerple-")) << list;
  EXPECT_EQ(1, std::count(list.begin(), list.end(), '\n')) << list;
  EXPECT_FALSE(std::filesystem::exists(results()));
}

// This override makes the runs of both sizes equal, which is refused; those of one size are valid.
TEST_F(SweepProgramTest, AChoiceMayBeValidWhereTheWholeConfigIsNot) {
  const std::string config = write("sizes.yaml", read_file(small_config()) +
                                                     "  size:\n    - {label: a, model.width: 8}\n"
                                                     "    - {label: b, model.width: 16}\n");
  expect_contains(output_of({"run", config, "model.width=8", "-o", results()}, 2), {"are one"});
  output_of({"run", config, "model.width=8", "--only", "size=a", "-o", results()});
}

// As docs/reproduce-table2.md merges them.
TEST_F(SweepProgramTest, PartsOfTwoMachinesAreMergedByCopying) {
  const std::filesystem::path other = folder_ / "other";
  expect_contains(output_of({"run", small_config(), "--shard", "1/2", "-o", results()}), {": 1 run, 0 done"});
  expect_contains(output_of({"run", small_config(), "--shard", "2/2", "-o", other.string()}),
                  {": 1 run, 0 done"});
  std::filesystem::copy(other / "runs", std::filesystem::path(results()) / "runs",
                        std::filesystem::copy_options::recursive);
  const std::string merged = output_of({"table", results(), "--format", "csv"});
  expect_contains(output_of({"run", small_config(), "-o", results()}), {": 2 runs, 2 done, 0 to do"});
  EXPECT_EQ(merged, output_of({"table", results(), "--format", "csv"}));
  expect_contains(output_of({"check", small_config(), "--shard", "3/2"}, 2), {"--shard 3/2: allowed: K/N"});
}

TEST_F(SweepProgramTest, SaysBeforeTrainingWhatElseTheFolderHolds) {
  const std::string others =
      "results holds 1 stored run that is not of this config; it differs in task.name (even_pairs)";
  const std::vector<std::string> one = {"run", small_config(), "axes.task=[even_pairs]", "-o", results()};
  EXPECT_FALSE(contains(che(one).output, "not of this config"));
  EXPECT_FALSE(contains(che(one).output, "not of this config"));
  const std::string other = output_of({"run", small_config(), "axes.task=[reverse_string]", "-o", results()});
  const std::size_t said = other.find(others);
  EXPECT_NE(std::string::npos, said) << other;
  EXPECT_LT(said, other.find("step ")) << other;
  // Some runs of a config do not count as another config.
  EXPECT_FALSE(contains(che({"run", small_config(), "--only", "task=even_pairs", "-o", results()}).output,
                        "not of this config"));
  expect_contains(
      che({"run", small_config(), "axes.task=[reverse_string]", "--dry-run", "-o", results()}).output,
      {others});
}

TEST_F(SweepProgramTest, ListsApartWhatTheIdsNameAlike) {
  for (const char* form : {"--list", "--dry-run"}) {
    const std::string list = output_of({"run", small_config(), form, "axes.encoding.dape.hidden=[4, 64]",
                                        "--only", "task=even_pairs", "-o", results()});
    expect_contains(list, {" dape_kerple(dape.hidden=4)\n"});
    // The id names no default, which is 64.
    EXPECT_FALSE(contains(list, "hidden=64")) << list;
  }
}

// The environment hides every GPU.
TEST_F(SweepProgramTest, ShowsTheReplicasThatAreChosenAndWhatAGpuWouldTake) {
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const auto output = [&](const std::string& form, const std::string& device) {
    return output_of({"run", small_config(), form, "--only", "task=even_pairs", "execution.replicas=auto",
                      "execution.device=" + device, "-o", results()});
  };
  constexpr const char* kNotMeasured = "\nGPU: no time was measured, because no GPU is visible here\n";
  for (const char* form : {"--list", "--dry-run"}) {
    for (const char* device : {"cpu", "auto"}) {
      EXPECT_NE(std::string::npos, output(form, device).find(" replicas=1\n")) << form << " " << device;
    }
    EXPECT_NE(std::string::npos, output(form, "cuda").find(" replicas=auto\n")) << form;
  }
  EXPECT_FALSE(contains(output("--dry-run", "cpu"), "GPU:"));
  expect_contains(output("--dry-run", "auto"), {kNotMeasured});
  expect_contains(output("--dry-run", "cuda"), {kNotMeasured});
  expect_refusal(che({"submit", small_config(), "--manifest", "execution.replicas=auto",
                      "execution.device=cuda", "-o", results()}),
                 {"execution.replicas: auto", "set a whole number"});
  EXPECT_FALSE(std::filesystem::exists(results()));
  output_of({"run", small_config(), "--only", "task=even_pairs", "execution.replicas=auto", "-o", results()});
  for (const auto& run : std::filesystem::directory_iterator(std::filesystem::path(results()) / "runs")) {
    expect_contains(read_file(run.path() / "config.yaml"), {"  replicas: 1\n"});
  }
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(SweepProgramTest, ComparesRanksAndTimesWhatItRan) {
  output_of({"run", small_config(), "axes.seed=0:1",
             "axes.encoding=[randomized_rope, randomized_alibi, randomized_kerple, randomized_dape_fire]",
             "training.steps=5", "-o", results()});
  expect_contains(
      output_of({"compare", results(), "--column", "randomized_rope", "--base", "randomized_kerple"}),
      {"seeds  randomized_rope  randomized_kerple  difference", "With 2 seeds p is 0.5 at least"});
  expect_contains(output_of({"agreement", results(), "--format", "csv"}), {"\nregular,even_pairs,max,4,"});
  expect_contains(output_of({"time", results(), "--base", "randomized_rope"}),
                  {"even_pairs: milliseconds per test batch of 64"});
}

TEST_F(SweepProgramTest, StartsNoMoreJobsThanAsked) {
  expect_contains(output_of({"run", small_config(), "--max-jobs", "1", "-o", results()}, 75), {"1 job left"});
  EXPECT_EQ(1U, contents(results(), "evaluation.csv").size());
  EXPECT_EQ(0, che({"run", small_config(), "--max-jobs", "1", "-o", results()}).exit_code);
  EXPECT_EQ(2U, contents(results(), "evaluation.csv").size());
}

// Files of earlier runs keep their bytes, so that nothing is computed again.
TEST_F(SweepProgramTest, AddsSeedsAndLengthsWithoutComputingAnythingTwice) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto before = everything(results() + "/runs");
  expect_contains(output_of({"run", small_config(), "axes.seed=0:1", "-o", results()}),
                  {"4 runs, 2 done, 2 to do"});
  auto after = everything(results() + "/runs");
  for (const auto& [file, content] : before) EXPECT_TRUE(content == after[file]) << file;

  const std::string otherwise =
      "2 finished runs were evaluated otherwise before, with evaluation.last_length (9); to run this config "
      "changes their scores, and to run the earlier config again brings back";
  expect_contains(
      che({"run", small_config(), "evaluation.last_length=11", "-o", results(), "--dry-run"}).output,
      {otherwise});
  const std::string lengths =
      output_of({"run", small_config(), "evaluation.last_length=11", "-o", results()});
  expect_contains(lengths, {otherwise});
  EXPECT_FALSE(contains(lengths, ": step ")) << lengths;
  after = everything(results() + "/runs");
  for (const auto& [file, content] : before) {
    if (file.ends_with("metrics.csv") || file.ends_with(".bin")) {
      EXPECT_TRUE(content == after[file]) << file;
    }
    if (!file.ends_with("evaluation.csv")) continue;
    const auto rows = [](const std::string& csv) { return std::count(csv.begin(), csv.end(), '\n') - 1; };
    EXPECT_EQ(3, rows(content));
    EXPECT_EQ(5, rows(after[file]));
  }
  // As the message says, nothing is measured again.
  expect_contains(che({"run", small_config(), "-o", results()}).output,
                  {"evaluation.last_length (11)", "2 runs, 2 done, 0 to do"});
}

// A command that leaves out a run fails.
TEST_F(SweepProgramTest, EvaluateNamesTheRunsThatItLeavesOut) {
  ASSERT_EQ(75, che({"run", small_config(), "-o", results(), "--max-jobs", "1"}).exit_code);
  const std::vector<std::string> further{"evaluate", results(), "--lengths", "20:20", "--samples", "64"};
  expect_contains(output_of(further, 1), {"2 runs: 1 to evaluate", "left out: 1 of 2 runs waiting"});

  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  EXPECT_EQ(0, che(further).exit_code);
  for (const auto& [file, content] : contents(results(), "config.yaml")) {
    if (file.find("even_pairs") != std::string::npos) std::ofstream(results() + "/" + file) << "seed: 1\n";
  }
  expect_contains(output_of(further, 1), {"2 runs: 0 to evaluate", "1 evaluated before, 1 left out"});
}

TEST_F(SweepProgramTest, EvaluatesATrainedModelWithAnotherSettingOfItsEncoding) {
  output_of({"run", small_config(), "axes.encoding=[rope, none]", "axes.task=[even_pairs]", "-o", results()});
  const auto metrics = contents(results(), "metrics.csv");
  expect_contains(
      output_of({"evaluate", results(), "--set", "encoding.scaling=yarn", "--set", "encoding.beta_slow=0.5"}),
      {"1 run: 1 to evaluate"});
  EXPECT_EQ(metrics, contents(results(), "metrics.csv"));
  expect_contains(che({"table", results(), "--format", "csv"}).output,
                  {",rope,", "\"rope(scaling=yarn, beta_slow=0.5)\"", ",none,"});
  expect_contains(che({"evaluate", results(), "--set", "encoding.scaling=none"}).output, {"0 to evaluate"});
  // The same run still has nothing left to do.
  expect_contains(
      che({"run", small_config(), "axes.encoding=[rope, none]", "axes.task=[even_pairs]", "-o", results()})
          .output,
      {"2 done, 0 to do"});
  expect_refusal(che({"evaluate", results(), "--set", "encoding.fraction=0.5"}),
                 {"fraction", "encoding.scaling"});
  expect_refusal(che({"evaluate", results(), "--set", "seed=1"}), {"--set seed=1", "encoding.scaling"});
  expect_refusal(che({"evaluate", results()}), {"--lengths, --samples, --seed or --set"});
  expect_refusal(che({"evaluate", results(), "--set", "encoding.beta_fast=16"}),
                 {"--set: encoding.beta_fast", "has an effect with scaling: yarn only", "scaling: none"});
  expect_refusal(
      che({"evaluate", results(), "--set", "encoding.scaling=yarn", "--set", "encoding.scaling=ntk"}),
      {"encoding.scaling", "twice"});
}

TEST_F(SweepProgramTest, EvaluatesStoredModelsAndPrunesThem) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto metrics = contents(results(), "metrics.csv");
  const std::vector<std::string> further{"evaluate", results(), "--lengths", "20:30:5", "--samples", "128"};
  expect_contains(output_of(further), {"2 to evaluate"});
  for (const auto& [file, csv] : contents(results(), "evaluation.csv")) {
    expect_contains(csv, {"\n9,64,0,off,", "\n20,128,0,off,", "\n25,128,0,off,", "\n30,128,0,off,"});
  }
  // A config that asks for the measured lengths finds nothing left to do.
  const Outcome asked = che({"run", small_config(),
                             "evaluation={first_length: 20, last_length: 30, length_step: "
                             "5, samples: 128}",
                             "-o", results()});
  expect_contains(asked.output, {"2 done, 0 to do"});
  EXPECT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  expect_contains(che(further).output, {"0 to evaluate"});
  const Outcome nothing_left = che({"run", small_config(), "--dry-run", "-o", results()});
  expect_contains(nothing_left.output, {"2 done; to do: 0.00e+00"});
  expect_refusal(che({"evaluate", results(), "--lengths", "30:20", "--samples", "64"}), {"--lengths 30:20"});
  expect_refusal(che({"evaluate", results(), "--lengths", "5:6", "--samples", "65"}),
                 {"samples", "65", "64"});

  expect_contains(output_of({"prune", results(), "--dry-run"}),
                  {"would delete the checkpoints of 2 of 2 runs"});
  {
    const FileLock other(std::filesystem::directory_iterator(results() + "/runs")->path());
    expect_contains(output_of({"prune", results()}),
                    {"left out: ", "is in use by", "deleted the checkpoints of 1 of 2 runs"});
  }
  expect_contains(output_of({"prune", results()}), {"deleted the checkpoints of 1 of 2 runs"});
  EXPECT_TRUE(contents(results(), "checkpoint.bin").empty());
  EXPECT_EQ(metrics, contents(results(), "metrics.csv"));
  expect_contains(che({"run", small_config(), "-o", results()}).output, {"2 done, 0 to do"});
  const std::string lost = output_of({"evaluate", results(), "--lengths", "40:40", "--samples", "64"}, 1);
  expect_contains(lost, {"left out: 2 of 2 runs, whose models are no longer stored, even_pairs-dape_kerple-",
                         "che run CONFIG evaluation.last_length=10 --retrain --output " + results() +
                             ", and after it che run CONFIG --output " + results() + ", so that scores",
                         "0 to evaluate", "2 left out"});
  EXPECT_EQ(std::string::npos, lost.find("not evaluated")) << "a line for each run:\n" << lost;
  expect_contains(che({"status", results()}).output, {"2 runs: 2 finished\n"});
  const auto before = everything(results() + "/runs");
  std::vector<std::string> more{"run", small_config(), "evaluation.last_length=10", "-o", results()};
  expect_refusal(che(more), {"no checkpoint", "2 trained runs", "--retrain", "even_pairs-dape_kerple-"});
  more.push_back("--dry-run");
  expect_refusal(che(more), {"no checkpoint", "2 trained runs", "--retrain", "even_pairs-dape_kerple-"});
  more.pop_back();
  EXPECT_EQ(before, everything(results() + "/runs")) << "a refusal wrote";
  more.push_back("--retrain");
  EXPECT_EQ(0, che(more).exit_code);
  for (const auto& [file, csv] : contents(results(), "evaluation.csv")) {
    EXPECT_EQ(std::string::npos, csv.find("\n20,128,")) << "rows of two models in " << file;
  }
  EXPECT_EQ(2U, contents(results(), "evaluation.csv.replaced").size());
}

// The scheduler may die before the worker watches it.
TEST_F(SweepProgramTest, AWorkerDoesNothingForADeadParent) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results(), "--only", "task=even_pairs"}).exit_code);
  const std::string csv = contents(results(), "evaluation.csv").begin()->first;
  const std::filesystem::path run = std::filesystem::path(results()) / csv;
  std::filesystem::remove(run);
  EXPECT_EQ(75, che({"worker", "--parent", "1", run.parent_path().string()}).exit_code);
  EXPECT_FALSE(std::filesystem::exists(run));
  EXPECT_EQ(0, che({"worker", run.parent_path().string()}).exit_code) << "without a parent";
  EXPECT_TRUE(std::filesystem::exists(run));
}

// A killed worker fails its own job only; the sweep goes on, and the next call resumes the job.
TEST_F(SweepProgramTest, AKilledWorkerIsRecordedAndRetried) {
  const pid_t process = start({"run", small_config(), "training.steps=5000", "-o", results(), "-w", "1"});
  wait_for(": step ");
  const Outcome status = shell(fmt::format("{} status {}", CHE_PROGRAM, results()));
  EXPECT_EQ(0, status.exit_code);
  expect_contains(status.output, {"1 waiting, 1 training", "  training    even_pairs-dape_kerple-"});
  // The worker is the scheduler's only child.
  EXPECT_EQ(0, shell(fmt::format("pkill -KILL -P {}", process)).exit_code);
  wait_for("failed: its process was ended by signal 9");
  wait_for("reverse_string-dape_kerple-lr0.0003-seed0-");
  kill(process, SIGTERM);
  EXPECT_EQ(75, finish(process).exit_code);
  EXPECT_NE(std::string::npos, che({"status", results()}).output.find("1 failed")) << "not recorded";
  output_of({"run", small_config(), "training.steps=5000", "-o", results(), "--only", "task=even_pairs"});
}

// A sweep that is stopped and started again ends with the bytes of an undisturbed one.
TEST_F(SweepProgramTest, StopsAtACheckpointAndGoesOn) {
  const std::string straight = (folder_ / "straight").string();
  // The run is long enough to be training when the signal comes, also on a busy machine.
  const std::string longer = "training.steps=15000";
  const std::string task = "task=even_pairs";
  ASSERT_EQ(0, che({"run", small_config(), longer, task, "-o", straight}).exit_code);
  std::signal(SIGHUP, SIG_DFL);  // Programs that the test starts have it from the test.
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) {
    const pid_t process = start({"run", small_config(), longer, task, "-o", results(), "-w", "1"});
    wait_for(": step ");
    kill(process, signal);
    const Outcome outcome = finish(process);
    EXPECT_EQ(75, outcome.exit_code) << signal << outcome.output;
    const auto states = contents(results(), "status.json");
    EXPECT_TRUE(std::ranges::any_of(
        states, [](const auto& file) { return file.second.find("\"interrupted\"") != std::string::npos; }))
        << signal << outcome.output;
    // Fewer operations are left than for a run from the start.
    const auto steps_left = [&](const std::string& folder) {
      const std::string plan = che({"run", small_config(), longer, task, "-o", folder, "--dry-run"}).output;
      return std::stod(plan.substr(plan.find("to do: ") + 7));
    };
    EXPECT_GT(steps_left(results()), 0);
    EXPECT_LT(steps_left(results()), steps_left((folder_ / "absent").string()));
  }
  std::signal(SIGHUP, SIG_IGN);   // As under nohup.
  std::signal(SIGCHLD, SIG_IGN);  // As under whoever does not wait for its programs.
  const pid_t process = start({"run", small_config(), longer, task, "-o", results(), "-w", "1"});
  for (const int signal : {SIGHUP, SIGCHLD}) std::signal(signal, SIG_DFL);
  wait_for(": step ");
  kill(process, SIGHUP);
  ASSERT_EQ(0, finish(process).exit_code);
  EXPECT_EQ(contents(straight, "evaluation.csv"), contents(results(), "evaluation.csv"));
}

// A later call asks for another length of one of them.
TEST_F(SweepProgramTest, ATaskSplitsAJobWhoseRunsDifferByNow) {
  const std::vector<std::string> settings{"task=even_pairs", "execution.replicas=2", "-o", results()};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), settings.begin(), settings.end());
    return words;
  };
  output_of(with({"submit", small_config(), "axes.seed=[0,1]", "--manifest"}));
  output_of(with({"run", small_config(), "seed=0", "evaluation.last_length=12"}));
  output_of({"task", results() + "/batch/1/submission.json", "0"});
  expect_contains(output_of({"status", results()}), {": 2 runs: 2 finished"});
}

// Only the task deletes a model; a submission says what a run says.
TEST_F(SweepProgramTest, SubmitsRunsThatBeginAgain) {
  const std::vector<std::string> settings{small_config(), "task=even_pairs", "-o", results()};
  const auto with = [&](const std::string& command, const std::vector<std::string>& options) {
    std::vector<std::string> words{command};
    words.insert(words.end(), settings.begin(), settings.end());
    words.insert(words.end(), options.begin(), options.end());
    return words;
  };
  output_of(with("run", {}));
  const auto model = contents(results(), "checkpoint.bin");
  expect_contains(output_of(with("submit", {"evaluation.at_steps=[20]", "--manifest"})),
                  {"1 run passed evaluation.at_steps 20", "1 done", "0 jobs to submit"});
  expect_contains(output_of(with("submit", {"evaluation.last_length=12", "--manifest"})),
                  {"1 finished run was evaluated otherwise before"});
  expect_contains(output_of(with("run", {"evaluation.at_steps=[20]", "--dry-run", "--retrain"})), {"0 done"});
  expect_contains(output_of(with("submit", {"evaluation.at_steps=[20]", "--manifest", "--retrain"})),
                  {"1 job to submit", "batch/2/submission.json"});
  expect_contains(output_of(with("submit", {"evaluation.at_steps=[20]", "--slurm", "--print", "--retrain"})),
                  {"1 job to submit", "sbatch --array=0-0 "});
  EXPECT_EQ(model, contents(results(), "checkpoint.bin"));
  output_of({"task", results() + "/batch/2/submission.json", "0"});
  EXPECT_EQ(1U, contents(results(), "evaluation_at_steps.csv").size());
  output_of(with("run", {"evaluation.at_steps=[20]", "evaluation.last_length=12"}));
  const auto status = contents(results(), "status.json");
  output_of({"task", results() + "/batch/2/submission.json", "0"});
  EXPECT_TRUE(status == contents(results(), "status.json")) << "a second task has nothing to do";
}

TEST_F(SweepProgramTest, RefusesAFolderThatAnotherProcessWorksIn) {
  const pid_t process = start({"run", small_config(), "training.steps=100000", "-o", results(), "-w", "1"});
  wait_for(": step ");
  expect_refusal(
      shell(fmt::format("{} run {} training.steps=100000 -o {}", CHE_PROGRAM, small_config(), results())),
      {"is in use by", fmt::format("process {} on {}", process, host_name())});
  kill(process, SIGTERM);
  EXPECT_EQ(75, finish(process).exit_code);
}

}  // namespace
}  // namespace che
