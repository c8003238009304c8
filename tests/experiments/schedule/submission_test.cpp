#include "experiments/schedule/submission.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/files.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

std::vector<std::vector<RunFolder>> three_jobs(const std::filesystem::path& experiment) {
  const auto run = [&](const char* encoding, std::int64_t seed) {
    return RunFolder::create(experiment, made_up_config("reverse_string", encoding, seed));
  };
  return {{run("rope", 0), run("rope", 1)}, {run("none", 0)}, {run("alibi", 0)}};
}

TEST(Submission, IsReadAsItWasStored) {
  const ScratchFolder scratch;
  EXPECT_TRUE(read_submissions(scratch.path()).empty());
  const auto jobs = three_jobs(scratch.path());
  Submission first = create_submission(scratch.path(), jobs, 2);
  EXPECT_EQ(first.folder, scratch.path() / "batch" / "1");
  EXPECT_EQ(first.experiment(), scratch.path());
  EXPECT_TRUE(std::filesystem::is_directory(first.logs()));
  first.arrays.push_back({.job = 12, .first = 0, .count = 2});
  first.summary = 13;
  first.store();
  create_submission(scratch.path(), {jobs[2]}, 1);

  const std::vector<Submission> all = read_submissions(scratch.path());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].folder, first.folder);
  using Task = std::vector<std::vector<std::string>>;
  EXPECT_EQ(all[0].tasks, (std::vector<Task>{{{jobs[0][0].id(), jobs[0][1].id()}, {jobs[1][0].id()}},
                                             {{jobs[2][0].id()}}}));
  ASSERT_EQ(all[0].arrays.size(), 1U);
  EXPECT_EQ(all[0].arrays[0].job, 12);
  EXPECT_EQ(all[0].arrays[0].count, 2U);
  EXPECT_EQ(all[0].summary, 13);
  EXPECT_EQ(all[1].tasks, (std::vector<Task>{{{jobs[2][0].id()}}}));
}

TEST(Submission, UsesTheFolderOfOneThatWasNotSubmittedAgain) {
  const ScratchFolder scratch;
  const auto jobs = three_jobs(scratch.path());
  const auto first = create_submission(scratch.path(), jobs, 2);
  EXPECT_EQ(create_submission(scratch.path(), jobs, 2).folder, first.folder);
  EXPECT_EQ(create_submission(scratch.path(), jobs, 1).folder, scratch.path() / "batch" / "2");
  Submission submitted = create_submission(scratch.path(), jobs, 1);
  submitted.arrays.push_back({.job = 0, .first = 0, .count = 3});
  submitted.store();
  EXPECT_EQ(create_submission(scratch.path(), jobs, 1).folder, scratch.path() / "batch" / "3");
  const PassedSteps passed{{jobs[0][1].id(), {400, 500}}};
  const auto anew = create_submission(scratch.path(), jobs, 1, passed);
  EXPECT_EQ(anew.folder, scratch.path() / "batch" / "4");
  EXPECT_EQ(passed, read_submission(anew.file()).begin_again);
  const std::filesystem::path mark = anew.begun_again(jobs[0][1].id());
  std::filesystem::create_directories(mark);
  EXPECT_EQ(create_submission(scratch.path(), jobs, 1, passed).folder, anew.folder);
  EXPECT_FALSE(std::filesystem::exists(mark)) << "its runs are to begin again once more";
}

TEST(Submission, IsNotStoredBehindALink) {
  const ScratchFolder scratch;
  const ScratchFolder other;
  std::filesystem::create_directory_symlink(other.path(), scratch.path() / "batch");
  expect_contains(message_of([&] { create_submission(scratch.path(), three_jobs(scratch.path()), 2); }),
                  {"batch' is a symbolic link", "remove it"});
  EXPECT_TRUE(std::filesystem::is_empty(other.path()));
}

// As a `submit` that is killed, or whose disk is full, may leave them.
TEST(Submission, AFolderThatCannotBeReadCostsAWarning) {
  const ScratchFolder scratch;
  const auto jobs = three_jobs(scratch.path());
  const std::filesystem::path batch = scratch.path() / "batch";
  std::filesystem::create_directories(batch / "1" / "logs");
  std::filesystem::create_directories(batch / "2");
  write_file_atomically(batch / "2" / "submission.json", "torn");
  std::filesystem::create_directories(batch / "new" / "logs");
  std::filesystem::create_directories(batch / "9223372036854775807");
  EXPECT_EQ(create_submission(scratch.path(), jobs, 1).folder, batch / "3");
  EXPECT_FALSE(std::filesystem::exists(batch / "new"));
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& warning) { warnings.push_back(warning); };
  EXPECT_EQ(read_submissions(scratch.path(), warn).size(), 1U);
  ASSERT_EQ(warnings.size(), 2U);
  expect_contains(warnings[0], {"batch/1/submission.json"});
  expect_contains(warnings[1], {"batch/2/submission.json"});
}

TEST(Submission, NamesWhatIsWrongWithItsFile) {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch.path() / "submission.json";
  const auto error_of = [&](const std::string& text) {
    write_file_atomically(file, text);
    return message_of([&] { read_submission(file); });
  };
  const auto expect = [&](const std::string& text, const std::string& problem) {
    EXPECT_EQ(error_of(text), file.string() + ": " + problem +
                                  "; the file is damaged: remove its folder, and `che submit` again");
  };
  expect("[]", "expected an object");
  write_file_atomically(scratch.path() / "other.json", "[]");
  const std::string of_other = message_of([&] { read_submission(scratch.path() / "other.json"); });
  expect_contains(of_other, {"expected an object; name the submission.json that `che submit` wrote"});
  expect("{}", "tasks: expected a list");
  expect(R"({"tasks":[1]})", "tasks: expected lists of jobs");
  expect(R"({"tasks":[[[]]]})", "tasks: expected jobs of one run or more");
  expect(R"({"tasks":[[["../x"]]]})", "tasks: expected run ids, got \"../x\"");
  expect(R"({"tasks":[[[7]]]})", "tasks: expected run ids, got 7");
  expect(R"({"tasks":[]})", "arrays: expected a list");
  expect(R"({"tasks":[],"arrays":[{"job":-1}]})", "job: expected a whole number >= 0");
  expect(R"({"tasks":[],"arrays":[]})", "summary: expected a whole number >= 0");
  expect_contains(error_of("{"), {"the file is damaged"});
  expect(R"({"tasks":[],"tasks":[]})", "an object has the key 'tasks' twice; allowed: each key once");
  expect(R"({"tasks":[],"arrays":[{"job":18446744073709551615}]})", "job: expected a whole number >= 0");
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);
  expect_contains(message_of([&] { read_submission(file); }),
                  {"it has 1099511627776 bytes; allowed: 268435456; the file is damaged"});
}

}  // namespace
}  // namespace che
