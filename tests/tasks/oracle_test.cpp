#include "tests/tasks/oracle.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/tasks/every_task.h"

namespace che {
namespace {

class TaskAgainstOracle : public EveryTask {
 protected:
  void SetUp() override {
    if (!has_oracle(name())) GTEST_SKIP() << name() << " has no oracle";
  }

  void expect_agreement(std::int64_t length, std::int64_t samples) {
    const BatchKey key{.seed = 11, .purpose = Purpose::kData, .step = static_cast<std::uint64_t>(length)};
    const Batch batch = batch_of(*task_, key, length, samples);
    for (std::int64_t row = 0; row < samples; ++row) {
      const Symbols input = row_of(batch.input, batch.input_length, row);
      const Answer drawn{row_of(batch.output, batch.output_length, row),
                         row_of(batch.mask, batch.output_length, row)};
      Answer expected;
      try {
        expected = oracle(name(), length, input);
      } catch (const std::invalid_argument& reason) {
        FAIL() << "length " << length << ": " << reason.what() << "; input " << testing::PrintToString(input);
      }
      ASSERT_EQ(drawn.output, expected.output)
          << "length " << length << "; input " << testing::PrintToString(input);
      ASSERT_EQ(drawn.mask, expected.mask)
          << "length " << length << "; input " << testing::PrintToString(input);
    }
  }
};

TEST_P(TaskAgainstOracle, AgreesAtSmallLengths) {
  for (std::int64_t length = 1; length <= 40; ++length) expect_agreement(length, 300);
}

TEST_P(TaskAgainstOracle, AgreesAroundMachineWords) {
  for (const std::int64_t length : {63, 64, 65, 66, 67, 96, 127, 128, 129, 130, 131, 500}) {
    expect_agreement(length, 200);
  }
}

TEST_P(TaskAgainstOracle, AgreesAtALargeLength) { expect_agreement(10'000, 3); }

INSTANTIATE_TEST_SUITE_P(Registry, TaskAgainstOracle, registered_tasks(), task_test_name);

// The oracle itself, on examples worked by hand.
TEST(Oracle, MultipliesBeforeAddingInSimpleExpressions) {
  EXPECT_EQ(oracle("modular_arithmetic_simple", 5, {1, 6, 2, 7, 4}).output, Symbols{3});  // 1-2*4 = -7
  EXPECT_EQ(oracle("modular_arithmetic_simple", 6, {4, 7, 4, 6, 3}).output, Symbols{3});  // 4*4-3 = 13
}

TEST(Oracle, EvaluatesBrackets) {
  // ((-2)-(3*4)) is 5 + 3 + 5 symbols.
  EXPECT_EQ(oracle("modular_arithmetic_brackets", 12, {8, 8, 6, 2, 9, 6, 8, 3, 7, 4, 9, 9}).output,
            Symbols{1});
  EXPECT_THROW(oracle("modular_arithmetic_brackets", 3, {1, 5, 2}), std::invalid_argument);
  EXPECT_THROW(oracle("modular_arithmetic_brackets", 5, {8, 8, 1, 9, 9}), std::invalid_argument);
}

TEST(Oracle, SolvesEquations) {
  // (x-3)=4
  EXPECT_EQ(oracle("solve_equation", 7, {7, 9, 6, 3, 8, 10, 4}).output, Symbols{2});
}

TEST(Oracle, EndsBinaryNumbersWithATerminator) {
  // 1 + 2 = 3
  const Answer sum = oracle("binary_addition", 4, {1, 2, 0, 1});
  EXPECT_EQ(sum.output, (Symbols{1, 1, 2, 0, 0}));
  EXPECT_EQ(sum.mask, (Symbols{1, 1, 1, 0, 0}));
  // 3 * 3 = 9
  EXPECT_EQ(oracle("binary_multiplication", 5, {1, 1, 2, 1, 1}).output, (Symbols{1, 0, 0, 1, 2}));
  EXPECT_THROW(oracle("binary_addition", 4, {0, 2, 0, 1}), std::invalid_argument);
}

TEST(Oracle, TakesRootsMostSignificantBitFirst) {
  EXPECT_EQ(oracle("compute_sqrt", 6, {1, 0, 0, 0, 1, 0}).output, (Symbols{1, 0, 1}));  // 34 -> 5
}

TEST(Oracle, IgnoresAPopOfAnEmptyStack) {
  EXPECT_EQ(oracle("stack_manipulation", 4, {1, 2, 2, 3}).output, (Symbols{0, 2, 0, 0, 0}));
}

}  // namespace
}  // namespace che
