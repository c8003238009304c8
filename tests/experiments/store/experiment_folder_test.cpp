#include "experiments/store/experiment_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/files.h"
#include "experiments/plan/identity.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"
#include "tests/unprivileged.h"

namespace che {
namespace {

namespace fs = std::filesystem;

RunConfig reverse_config() { return made_up_config("reverse_string", "rope"); }

TEST(OpenRuns, AreSortedAndLeaveOutEmptyFolders) {
  const ScratchFolder scratch;
  std::vector<std::string> ids;
  for (std::int64_t seed = 3; seed >= 0; --seed) {
    RunConfig run = reverse_config();
    run.seed = seed;
    ids.push_back(RunFolder::create(scratch.path(), run).id());
  }
  const fs::path half_made = scratch.path() / "runs" / "half-made";
  fs::create_directory(half_made);
  write_file_atomically(half_made / ".config.yaml.123-0.tmp", "torn");
  write_file_atomically(half_made / "lock.1", "free\n");
  std::sort(ids.begin(), ids.end());
  std::vector<std::string> found;
  for (const RunFolder& run : open_runs(scratch.path())) found.push_back(run.id());
  EXPECT_EQ(found, ids);
}

TEST(OpenRuns, SaysWhenThereIsNothing) {
  const ScratchFolder scratch;
  expect_contains(message_of([&] { open_runs(scratch.path() / "absent"); }),
                  {"absent", "No such file", "che run"});
  fs::create_directory(scratch.path() / "runs");
  expect_contains(message_of([&] { open_runs(scratch.path()); }), {"holds no runs"});
}

TEST(OpenRuns, SuggestsTheFolderThatIsMeant) {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path() / "results/quick/runs");
  fs::create_directories(scratch.path() / "results/notes");
  const std::string beside = (scratch.path() / "results/quick").string();
  EXPECT_TRUE(message_of([&] {
                open_runs(scratch.path() / "results/quik");
              }).ends_with("; did you mean " + beside + "?"));
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  for (const char* named : {"quick", "resutls/quick", "configs/quick.yaml"}) {
    const std::string message = message_of([&] { open_runs(named); });
    EXPECT_TRUE(message.ends_with("; did you mean results/quick?")) << message;
  }
  const std::string other = message_of([&] { open_runs("results/note"); });
  fs::current_path(before);
  EXPECT_TRUE(other.ends_with("; name a folder that `che run` wrote")) << "notes holds no runs: " << other;
}

// One run that cannot be read used to stop every command.
TEST(FindRuns, NamesWhatTheSystemDoesNotShowAndGoesOn) {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "runs";
  RunFolder::create(scratch.path(), reverse_config());
  std::vector<fs::path> unreadable;
  for (const auto& [seed, permissions] : {std::pair{1, fs::perms::none}, {2, fs::perms(0644)}}) {
    unreadable.push_back(
        RunFolder::create(scratch.path(), made_up_config("reverse_string", "rope", seed)).path());
    fs::permissions(unreadable.back(), permissions);
  }
  unreadable.push_back(folder / "loop");
  fs::create_symlink("loop", folder / "loop");
  const fs::path misnamed = folder / "my-best-run";
  fs::rename(RunFolder::create(scratch.path(), made_up_config("reverse_string", "rope", 3)).path(), misnamed);

  const Unprivileged user;
  const ExperimentRuns found = find_runs(scratch.path());
  ASSERT_EQ(found.runs.size(), 1U);
  EXPECT_EQ(found.runs[0].id(), run_id(reverse_config()));
  ASSERT_EQ(found.left_out.size(), 4U);
  for (const fs::path& path : unreadable) {
    EXPECT_TRUE(std::ranges::any_of(found.left_out, [&](const InspectedRun& run) {
      return run.problem == RunProblem::kNoAccess && contains(run.text, path.string());
    })) << path;
  }
  EXPECT_TRUE(std::ranges::any_of(found.left_out, [&](const InspectedRun& run) {
    return run.problem == RunProblem::kWrongName && contains(run.text, misnamed.string());
  }));
}

TEST(OpenRuns, ThatNobodyMayReadAreTheMachinesFault) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch.path(), reverse_config());
  const auto expect_refusal = [&](const fs::path& locked) {
    fs::permissions(locked, fs::perms::none);
    expect_error(ErrorKind::kRuntime, {"no results in", scratch.path().string()}, [&] {
      const Unprivileged user;
      open_runs(scratch.path(), [](const std::string&) {});
    });
    fs::permissions(locked, fs::perms::owner_all);
  };
  expect_refusal(run.path());
  expect_refusal(scratch.path() / "runs");
}

class RunChoiceTest : public testing::Test {
 protected:
  RunChoiceTest() {
    for (const std::int64_t seed : {0, 1, 2}) {
      store_run(scratch_.path(), made_up_config("even_pairs", "rope", seed), RunState::kFinished, 0.5);
      store_run(scratch_.path(), made_up_config("even_pairs", "dape_kerple", seed), RunState::kWaiting);
    }
    store_run(scratch_.path(), made_up_config("bucket_sort", "kerple"), RunState::kFailed);
  }

  std::string chosen(const std::vector<std::string>& conditions) const {
    std::string text;
    for (const RunFolder& run : RunChoice({.only = conditions}).of(open_runs(scratch_.path()))) {
      text += run.config().encoding.form().text() + std::to_string(run.config().seed) + " ";
    }
    return text;
  }

  std::string refusal(const std::string& condition) const {
    return message_of([&] { chosen({condition}); });
  }

  ScratchFolder scratch_;
};

TEST_F(RunChoiceTest, KeepsWhatHoldsEveryCondition) {
  EXPECT_EQ(chosen({}), "kerple0 dape_kerple0 dape_kerple1 dape_kerple2 rope0 rope1 rope2 ");
  EXPECT_EQ(chosen({"encoding=rope"}), "rope0 rope1 rope2 ");
  EXPECT_EQ(chosen({"encoding=[kerple, rope]", "seed=0:1"}), "kerple0 rope0 rope1 ");
  EXPECT_EQ(chosen({"encoding.name=kerple", "seed=0"}), "kerple0 dape_kerple0 ");
}

TEST_F(RunChoiceTest, ConditionsThatNoRunHoldsAreRefused) {
  EXPECT_EQ(refusal("seed=7"), "--only leaves none of 7 stored runs; in them, seed is 0, 1, 2");
  expect_contains(refusal("encoding=ropes"), {"did you mean 'rope'"});
  expect_contains(refusal("size=small"),
                  {"size: unknown key", "labels of a config's variants are not stored"});
}

TEST_F(RunChoiceTest, WarnsOfListedValuesThatNoRunHas) {
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& text) { warnings.push_back(text); };
  RunChoice({.only = {"seed=[0, 7]", "encoding=[rope, alibi]"}}).of(open_runs(scratch_.path()), warn);
  EXPECT_EQ(warnings, (std::vector<std::string>{"--only: no stored run has seed=7",
                                                "--only: no stored run has encoding=alibi"}));
  warnings.clear();
  RunChoice({.only = {"seed=0:7", "encoding=[rope, kerple]"}}).of(open_runs(scratch_.path()), warn);
  EXPECT_TRUE(warnings.empty()) << "the end of a range may lie beyond the runs";
}

}  // namespace
}  // namespace che
