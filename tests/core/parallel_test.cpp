#include "core/parallel.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/message_of.h"

namespace che {
namespace {

TEST(Parallel, CallsEachIndexOnce) {
  for (const std::size_t count : {0U, 1U, 31U, 1000U}) {
    std::vector<int> calls(count, 0);
    for_each_index(count, [&](std::size_t i) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(count, 1));
  }
}

TEST(Parallel, TakesResultsInOrder) {
  std::vector<std::size_t> taken;
  for_each_in_order(
      1000, [](std::size_t i) { return std::to_string(i); },
      [&](std::size_t i, const std::string& made) {
        EXPECT_EQ(made, std::to_string(i));
        taken.push_back(i);
      });
  std::vector<std::size_t> expected(1000);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(taken, expected);
}

TEST(Parallel, PassesExceptionsOn) {
  EXPECT_EQ("of 500", message_of([] {
              for_each_index(1000, [](std::size_t i) {
                if (i == 500) throw Error("of 500");
              });
            }));
}

}  // namespace
}  // namespace che
