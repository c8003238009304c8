#include "experiments/schedule/batch_script.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/contains.h"
#include "tests/message_of.h"

namespace che {
namespace {

Submission at(const std::string& folder) {
  return {.folder = folder, .tasks = {}, .arrays = {}, .summary = 0};
}

TEST(BatchOptions, AreWhatSbatchReads) {
  for (const char* time : {"", "30", "2:30", "4:00:00", "1-12", "1-00:30", "1-00:30:10", "UNLIMITED"}) {
    EXPECT_NO_THROW(check_batch_options({.time = time, .warning_seconds = 60})) << time;
  }
  for (const char* time : {"4hours", "1:2:3:4", "-5", "1-", "4:00:00x"}) {
    expect_contains(message_of([&] { check_batch_options({.time = time}); }), {"--time", time, "4:00:00"});
  }
  for (const char* time : {"0:02:00", "2", "1:59"}) {
    expect_contains(message_of([&] { check_batch_options({.time = time, .warning_seconds = 120}); }),
                    {"--time", time, "--warning"});
  }
  EXPECT_NO_THROW(check_batch_options({.memory = "4G", .gpus = "a100:2"}));
  expect_contains(message_of([] { check_batch_options({.memory = "4X"}); }), {"--mem 4X", "4G"});
  expect_contains(message_of([] { check_batch_options({.gpus = "lots"}); }), {"--gpus lots", "a100:2"});
  expect_contains(message_of([] { check_batch_options({.memory = std::string(60'000, '1')}); }), {"4G"});
  expect_contains(message_of([] { check_batch_options({.gpus = std::string(100'000, 'a')}); }), {"a100:2"});
}

TEST(BatchScript, HandsEachElementOneTask) {
  const BatchOptions options{.partition = "cpu", .time = "4:00:00", .memory = "4G", .cores = 2};
  EXPECT_EQ(array_script(at("/r/a/slurm/1"), "che-a", "/opt/che", options),
            "#!/bin/bash\n"
            "#SBATCH --job-name=che-a\n"
            "#SBATCH --output=\"/r/a/slurm/1/logs/%A_%a.log\"\n"
            "#SBATCH --partition=cpu\n"
            "#SBATCH --time=4:00:00\n"
            "#SBATCH --mem=4G\n"
            "#SBATCH --cpus-per-task=2\n"
            "#SBATCH --open-mode=append\n"
            "#SBATCH --requeue\n"
            "#SBATCH --signal=B:USR1@120\n"
            "# exec, so that Slurm's signals reach the program.\n"
            "exec '/opt/che' task '/r/a/slurm/1/submission.json' \"$(($1 + SLURM_ARRAY_TASK_ID))\" "
            "--max-restarts 20\n");
  EXPECT_EQ(summary_script(at("/r/a/slurm/1"), "che-a-summary", "/opt/che", options),
            "#!/bin/bash\n"
            "#SBATCH --job-name=che-a-summary\n"
            "#SBATCH --output=\"/r/a/slurm/1/logs/summary_%j.log\"\n"
            "#SBATCH --partition=cpu\n"
            "#SBATCH --time=60\n"
            "#SBATCH --mem=4G\n"
            "'/opt/che' table '/r/a'\n"
            "exec '/opt/che' report '/r/a'\n");
}

TEST(BatchScript, AsksForNoLongerSummaryThanTasks) {
  expect_contains(summary_script(at("/r"), "s", "/opt/che", {.time = "30:00"}), {"#SBATCH --time=30:00\n"});
  expect_contains(summary_script(at("/r"), "s", "/opt/che", {.time = "UNLIMITED"}), {"#SBATCH --time=60\n"});
}

TEST(BatchScript, QuotesPathsAndPassesOptionsOn) {
  const BatchOptions options{.gpus = "1", .others = {"--account=x"}, .preempted_exit = 99};
  expect_contains(array_script(at("/r/it's 5%/slurm/1"), "che-a", "/opt/c e", options),
                  {"#SBATCH --output=\"/r/it's 5%%/slurm/1/logs/%A_%a.log\"\n", "#SBATCH --account=x\n",
                   "#SBATCH --gpus=1\n", "exec '/opt/c e' task '/r/it'\\''s 5%/slurm/1/submission.json'",
                   "--preempted-exit 99\n"});
}

TEST(BatchScript, RefusesWhatSbatchWouldReadInAnotherWay) {
  const auto error_of = [](const std::string& folder, const BatchOptions& options) {
    return message_of([&] { array_script(at(folder), "che-a", "/opt/che", options); });
  };
  expect_contains(error_of("/r\"/slurm/1", {}), {"choose another results folder with -o"});
  expect_contains(error_of("/r/slurm/1", {.partition = "cpu\nrm -r x"}), {"control characters"});
  expect_contains(error_of("/r/slurm/1", {.others = {"account=x"}}), {"--sbatch account=x: allowed:"});
  expect_contains(message_of([] { check_batch_options({.partition = "cpu gpu"}); }),
                  {"--partition 'cpu gpu': allowed: a name, or several with commas"});
}

TEST(BatchScript, AsksForMoreMemoryThanWasMeasured) {
  EXPECT_EQ("700M", memory_request(500 * 0x1p20));
  EXPECT_EQ("100M", memory_request(1));
  EXPECT_EQ("12800M", memory_request(10 * 0x1p30));
}

TEST(BatchScript, WarnsOfOptionsThatDoNotFit) {
  const auto warnings = [](const BatchOptions& options, std::int64_t steps,
                           const std::string& device = "cpu") {
    RunConfig run;
    run.task.name = "even_pairs";
    run.training.steps = steps;
    run.evaluation.listed_lengths = {41};
    run.execution.device = device;
    std::string text;
    warn_of_unfitting_options(options, {{run}, {run, run}},
                              [&](const std::string& line) { text += line + "\n"; });
    return text;
  };
  EXPECT_EQ("", warnings({}, 200'000));
  expect_contains(warnings({.time = "1:00:00", .max_restarts = 2}, 200'000),
                  {"--time 1:00:00 with 2 restarts stops 2 of 2 tasks short"});
  EXPECT_EQ("", warnings({.time = "30-0", .max_restarts = 20}, 200'000));
  expect_contains(warnings({}, 1), {"the longest task takes about", "--runs-per-task"});
  expect_contains(warnings({.gpus = "1"}, 200'000), {"--gpus: no run asks for a GPU"});
  expect_contains(warnings({}, 200'000, "cuda"), {"tasks get none without --gpus"});
  EXPECT_EQ("", warnings({.time = "1:00:00", .gpus = "1"}, 200'000, "auto"));
}

}  // namespace
}  // namespace che
