#include "experiments/store/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "core/file_lock.h"
#include "core/files.h"
#include "tests/contains.h"
#include "tests/message_of.h"

namespace che {
namespace {

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() { std::filesystem::create_directories(folder_); }
  ~CheckpointTest() override { std::filesystem::remove_all(folder_); }

  static Checkpoint at_step(std::int64_t step) {
    const auto value = static_cast<float>(step);
    return {.step = step,
            .sums = {.steps = 3, .loss = 0.1 * value, .accuracy = 2, .gradient_norm = 1e-3},
            .values = {value, 2},
            .first_moment = {3, value},
            .second_moment = {-1.5F, 1e-30F}};
  }

  LoadedCheckpoint load(const std::string& id, std::size_t size) const {
    const FileLock lock(folder_);
    return load_checkpoint(folder_, id, size, DamagedCheckpoints::kSetAside);
  }

  std::filesystem::path current() const { return folder_ / "checkpoint.bin"; }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("che_checkpoint_test_" + std::to_string(getpid()));
};

TEST_F(CheckpointTest, ComesBackBitForBit) {
  save_checkpoint(folder_, "run", at_step(7));
  const LoadedCheckpoint loaded = load("run", 2);
  ASSERT_TRUE(loaded.checkpoint.has_value());
  EXPECT_TRUE(loaded.warnings.empty());
  EXPECT_EQ(7, loaded.checkpoint->step);
  EXPECT_EQ(at_step(7).sums.steps, loaded.checkpoint->sums.steps);
  EXPECT_EQ(at_step(7).sums.gradient_norm, loaded.checkpoint->sums.gradient_norm);
  EXPECT_EQ(at_step(7).values, loaded.checkpoint->values);
  EXPECT_EQ(at_step(7).first_moment, loaded.checkpoint->first_moment);
  EXPECT_EQ(at_step(7).second_moment, loaded.checkpoint->second_moment);
}

TEST_F(CheckpointTest, IsDamagedWithAStepBeforeTheFirst) {
  save_checkpoint(folder_, "run", at_step(-5));
  const LoadedCheckpoint loaded = load("run", 2);
  EXPECT_FALSE(loaded.checkpoint.has_value());
  ASSERT_EQ(1U, loaded.warnings.size());
  expect_contains(loaded.warnings.front(), {"is of step -5"});
}

TEST_F(CheckpointTest, IsDamagedWithSumsThatNoTrainingHas) {
  Checkpoint checkpoint = at_step(5);
  checkpoint.sums.accuracy = checkpoint.sums.steps + 1;
  save_checkpoint(folder_, "run", checkpoint);
  const LoadedCheckpoint loaded = load("run", 2);
  EXPECT_FALSE(loaded.checkpoint.has_value());
  expect_contains(loaded.warnings.at(0), {"has an accuracy of "});
}

TEST_F(CheckpointTest, NothingIsThereAtFirst) {
  const LoadedCheckpoint loaded = load("run", 2);
  EXPECT_FALSE(loaded.checkpoint.has_value());
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST_F(CheckpointTest, EveryTruncationFallsBackToTheOneBefore) {
  save_checkpoint(folder_, "run", at_step(7));
  save_checkpoint(folder_, "run", at_step(8));
  const std::string whole = read_file(current());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(current(), std::ios::binary | std::ios::trunc)
        .write(whole.data(), static_cast<std::streamsize>(size));
    const LoadedCheckpoint loaded = load("run", 2);
    ASSERT_TRUE(loaded.checkpoint.has_value()) << size;
    EXPECT_EQ(7, loaded.checkpoint->step) << size;
    EXPECT_EQ(1U, loaded.warnings.size()) << size;
  }
}

TEST_F(CheckpointTest, EveryFlippedByteIsSeen) {
  save_checkpoint(folder_, "run", at_step(7));
  const std::string whole = read_file(current());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    std::ofstream(current(), std::ios::binary | std::ios::trunc) << damaged;
    const LoadedCheckpoint loaded = load("run", 2);
    EXPECT_FALSE(loaded.checkpoint.has_value()) << i;
    EXPECT_EQ(1U, loaded.warnings.size()) << i;
  }
}

TEST_F(CheckpointTest, OfAnotherRunOrSizeIsRefused) {
  save_checkpoint(folder_, "run", at_step(7));
  EXPECT_FALSE(load("walk", 2).checkpoint.has_value());
  EXPECT_FALSE(load("run", 3).checkpoint.has_value());
}

// What is not a file used to be taken for a good checkpoint, or to stop the run for good.
TEST_F(CheckpointTest, AFolderOrLinkOfItsNameIsSetAside) {
  save_checkpoint(folder_, "run", at_step(7));
  save_checkpoint(folder_, "run", at_step(8));
  std::filesystem::remove(current());
  std::filesystem::create_directories(current() / "inside");
  LoadedCheckpoint loaded = load("run", 2);
  ASSERT_EQ(loaded.warnings.size(), 1U);
  expect_contains(loaded.warnings[0],
                  {current().string(), "a folder", "now checkpoint.bin.damaged", "checkpoint of step 7"});
  save_checkpoint(folder_, "run", at_step(9));
  std::filesystem::remove(folder_ / "checkpoint.previous.bin");
  std::filesystem::create_symlink("absent", folder_ / "checkpoint.previous.bin");
  loaded = load("run", 2);
  ASSERT_EQ(loaded.warnings.size(), 1U);
  expect_contains(loaded.warnings[0], {"checkpoint.previous.bin", "a symbolic link", "of step 9"});
  save_checkpoint(folder_, "run", at_step(10));
  EXPECT_EQ(load("run", 2).checkpoint.value().step, 10);
}

TEST_F(CheckpointTest, IsNotReadWhereItIsLongerThanTheRuns) {
  save_checkpoint(folder_, "run", at_step(7));
  std::filesystem::resize_file(current(), std::uintmax_t{1} << 40);
  const LoadedCheckpoint loaded = load_checkpoint(folder_, "run", 2, DamagedCheckpoints::kLeave);
  EXPECT_FALSE(loaded.checkpoint.has_value());
  ASSERT_EQ(loaded.warnings.size(), 1U);
  expect_contains(loaded.warnings[0], {"checkpoint.bin", "bytes; allowed: "});
}

// A reader without the run's lock may meet a file that its owner is about to replace.
TEST_F(CheckpointTest, IsMovedByTheHolderOfTheLockOnly) {
  save_checkpoint(folder_, "run", at_step(7));
  std::ofstream(current()) << "torn";
  const LoadedCheckpoint loaded = load_checkpoint(folder_, "run", 2, DamagedCheckpoints::kLeave);
  EXPECT_FALSE(loaded.checkpoint.has_value());
  ASSERT_EQ(loaded.warnings.size(), 1U);
  expect_contains(loaded.warnings[0], {"checkpoint.bin: has 4 bytes instead of", "no other good one"});
  EXPECT_EQ(read_file(current()), "torn");
  expect_contains(message_of([&] { load_checkpoint(folder_, "run", 2, DamagedCheckpoints::kSetAside); }),
                  {"holder of the lock"});
  EXPECT_EQ(read_file(current()), "torn");
}

TEST_F(CheckpointTest, AreRemovedWithoutFollowingLinks) {
  save_checkpoint(folder_, "run", at_step(7));
  const auto size = std::filesystem::file_size(current());
  std::ofstream(folder_ / "precious") << "content";
  std::filesystem::create_symlink("precious", folder_ / "checkpoint.previous.bin");
  std::filesystem::create_directories(folder_ / "checkpoint.bin.damaged" / "inside");
  EXPECT_EQ(remove_checkpoints(folder_), size);
  EXPECT_EQ(read_file(folder_ / "precious"), "content");
  EXPECT_FALSE(has_checkpoint(folder_));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "checkpoint.bin.damaged" / "inside"));
}

}  // namespace
}  // namespace che
