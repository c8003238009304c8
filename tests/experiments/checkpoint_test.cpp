#include "experiments/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "core/atomic_file.h"

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

  std::filesystem::path current() const { return folder_ / "checkpoint.bin"; }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("che_checkpoint_test_" + std::to_string(getpid()));
};

TEST_F(CheckpointTest, ComesBackBitForBit) {
  save_checkpoint(folder_, "run", at_step(7));
  const LoadedCheckpoint loaded = load_checkpoint(folder_, "run", 2);
  ASSERT_TRUE(loaded.checkpoint.has_value());
  EXPECT_TRUE(loaded.warnings.empty());
  EXPECT_EQ(7, loaded.checkpoint->step);
  EXPECT_EQ(at_step(7).sums.steps, loaded.checkpoint->sums.steps);
  EXPECT_EQ(at_step(7).sums.gradient_norm, loaded.checkpoint->sums.gradient_norm);
  EXPECT_EQ(at_step(7).values, loaded.checkpoint->values);
  EXPECT_EQ(at_step(7).first_moment, loaded.checkpoint->first_moment);
  EXPECT_EQ(at_step(7).second_moment, loaded.checkpoint->second_moment);
}

TEST_F(CheckpointTest, NothingIsThereAtFirst) {
  const LoadedCheckpoint loaded = load_checkpoint(folder_, "run", 2);
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
    const LoadedCheckpoint loaded = load_checkpoint(folder_, "run", 2);
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
    const LoadedCheckpoint loaded = load_checkpoint(folder_, "run", 2);
    EXPECT_FALSE(loaded.checkpoint.has_value()) << i;
    EXPECT_EQ(1U, loaded.warnings.size()) << i;
  }
}

TEST_F(CheckpointTest, OfAnotherRunOrSizeIsRefused) {
  save_checkpoint(folder_, "run", at_step(7));
  EXPECT_FALSE(load_checkpoint(folder_, "walk", 2).checkpoint.has_value());
  EXPECT_FALSE(load_checkpoint(folder_, "run", 3).checkpoint.has_value());
}

}  // namespace
}  // namespace che
