#include "experiments/schedule/slurm.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/error.h"
#include "core/files.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

// Shell scripts that stand for Slurm's commands, first on the PATH.
class SlurmCommands : public testing::Test {
 protected:
  SlurmCommands() : path_(std::getenv("PATH")) {
    ::setenv("PATH", (scratch_.path().string() + ":" + path_).c_str(), 1);
  }
  ~SlurmCommands() override { ::setenv("PATH", path_.c_str(), 1); }

  void set_command(const char* name, const std::string& script) {
    const std::filesystem::path file = scratch_.path() / name;
    write_file_atomically(file, "#!/bin/sh\n" + script);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  ScratchFolder scratch_;
  std::string path_;
};

TEST_F(SlurmCommands, TellTheQueue) {
  set_command("squeue",
              "echo '12|0|RUNNING|None|/a/b 0'\necho '12|3|PENDING|Priority|/a |/b 0'\n"
              "echo '13|N/A|PENDING|Dependency|/a/c'\n");
  const std::vector<QueuedJob> jobs = queued_jobs();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[1].id, 12);
  EXPECT_EQ(jobs[1].index, 3);
  EXPECT_EQ(jobs[1].state, "PENDING");
  EXPECT_EQ(jobs[1].reason, "Priority");
  EXPECT_EQ(jobs[1].command, "/a |/b 0");
  EXPECT_FALSE(jobs[2].index);
}

TEST_F(SlurmCommands, SubmitAndRequeue) {
  const std::filesystem::path words = scratch_.path() / "words";
  set_command("sbatch", "printf '%s|' \"$@\" > " + words.string() + "\necho '77;cluster'\n");
  EXPECT_EQ(submit_batch({"--array=0-3", "a file"}), 77);
  EXPECT_EQ(read_file(words), "--parsable|--array=0-3|a file|");
  set_command("scontrol",
              "printf '%s|' \"$@\" > " + words.string() + "\necho 'MaxArraySize            = 1001'\n");
  EXPECT_EQ(max_array_size(), 1001);
  requeue("12_3");
  EXPECT_EQ(read_file(words), "requeue|12_3|");
}

TEST_F(SlurmCommands, ErrorsNameTheCommandAndTheReason) {
  set_command("sbatch", "echo 'sbatch: error: invalid partition specified: x' >&2\nexit 1\n");
  EXPECT_EQ(message_of([] { submit_batch({}); }), "sbatch: error: invalid partition specified: x");
  set_command("sbatch", "echo words\n");
  expect_contains(message_of([] { submit_batch({}); }), {"expected a job's id, got 'words"});
  set_command("scontrol", "echo nothing\n");
  expect_contains(message_of([] { max_array_size(); }), {"names no MaxArraySize"});
  set_command("squeue", "exit 124\n");  // As `timeout` does.
  expect_contains(message_of([] { queued_jobs(); }), {"squeue: no answer within 15 seconds"});
}

TEST_F(SlurmCommands, StatusCountsTheElementsOfOurArrays) {
  const ScratchFolder experiment;
  EXPECT_TRUE(slurm_status(experiment.path()).empty());
  Submission submission{.folder = experiment.path() / "batch" / "1",
                        .tasks = {{{"run-a"}}, {{"run-b"}}, {{"run-c"}, {"run-d"}}},
                        .arrays = {{.job = 12, .first = 0, .count = 2}, {.job = 14, .first = 2, .count = 1}},
                        .summary = 15};
  std::filesystem::create_directories(submission.folder);
  submission.store();
  // The same folder by another path.
  const ScratchFolder links;
  std::filesystem::create_directory_symlink(experiment.path(), links.path() / "link");
  const std::string script = (links.path() / "link" / "batch" / "1" / "array.sbatch").string();
  set_command("squeue", "echo '12|1|PENDING|Priority|" + submission.array_script().string() +
                            " 0'\necho '14|0|RUNNING|None|" + script +
                            " 2'\necho '99|0|RUNNING|None|/other/batch/1/array.sbatch 0'\n"
                            "echo '12|0|RUNNING|None|/another/program 0'\necho '15|N/A|PENDING|Dependency|" +
                            submission.summary_script().string() + "'\n");
  using Lines = std::vector<std::string>;
  EXPECT_EQ(slurm_status(experiment.path()),
            (Lines{"Slurm: array 12: 1 PENDING (Priority)", "Slurm: array 14: 1 RUNNING"}));
  EXPECT_EQ(runs_in_queue({submission}, queued_jobs()), (std::set<std::string>{"run-b", "run-c", "run-d"}));
  const QueuedSubmission found = find_in_queue(submission, queued_jobs());
  EXPECT_EQ(found.arrays, (std::map<std::int64_t, std::size_t>{{12, 0}, {14, 2}}));
  EXPECT_EQ(found.summary, 15);
  set_command("squeue", "");
  EXPECT_EQ(slurm_status(experiment.path()), (Lines{"Slurm: none of the submitted tasks is in the queue"}));
  set_command("squeue", "exit 1\n");
  const Lines unknown = slurm_status(experiment.path());
  ASSERT_EQ(unknown.size(), 1U);
  expect_contains(unknown[0], {"Slurm: arrays 12, 14 were submitted; their state is not known: squeue: "});
}

// What a process that is killed after it has called sbatch leaves: ids that are not stored.
TEST_F(SlurmCommands, FindWhatWasSubmittedWithoutItsIds) {
  const ScratchFolder experiment;
  Submission submission{.folder = experiment.path() / "batch" / "1",
                        .tasks = {{{"run-a"}}, {{"run-b"}}},
                        .arrays = {},
                        .summary = 0};
  std::filesystem::create_directories(submission.folder);
  submission.store();
  set_command("squeue", "exit 1\n");
  EXPECT_TRUE(slurm_status(experiment.path()).empty()) << "nothing was submitted from here";
  set_command("squeue", "echo '12|0|RUNNING|None|" + submission.array_script().string() + " 1'\n");
  EXPECT_EQ(runs_in_queue({submission}, queued_jobs()), (std::set<std::string>{"run-b"}));
  EXPECT_EQ(slurm_status(experiment.path()), (std::vector<std::string>{"Slurm: array 12: 1 RUNNING"}));
}

}  // namespace
}  // namespace che
