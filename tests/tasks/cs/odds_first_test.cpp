#include <gtest/gtest.h>

#include "tests/tasks/every_task.h"

namespace che {
namespace {

TEST(OddsFirst, PutsTheFirstThirdAndSoOnFirstWhenAsked) {
  const auto as_released = create_task("odds_first", {{"order", "even_first"}});
  const auto as_described = create_task("odds_first", {{"order", "odd_first"}});
  for (const std::int64_t length : {1, 2, 3, 6, 7, 40}) {
    const Batch even = batch_of(*as_released, BatchKey{.seed = 1}, length, 50);
    const Batch odd = batch_of(*as_described, BatchKey{.seed = 1}, length, 50);
    ASSERT_EQ(even.input, odd.input);
    EXPECT_EQ(even.output, batch_of(*create_task("odds_first"), BatchKey{.seed = 1}, length, 50).output);
    for (std::int64_t row = 0; row < odd.size; ++row) {
      const Symbols input = row_of(odd.input, length, row);
      Symbols expected;
      for (std::size_t i = 0; i < input.size(); i += 2) expected.push_back(input[i]);
      for (std::size_t i = 1; i < input.size(); i += 2) expected.push_back(input[i]);
      EXPECT_EQ(row_of(odd.output, length, row), expected);
    }
  }
}

}  // namespace
}  // namespace che
