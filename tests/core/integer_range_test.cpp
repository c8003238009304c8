#include "core/integer_range.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(IntegerRange, IncludesBothEnds) {
  const auto range = parse_integer_range("501:1000:50");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->first, 501);
  EXPECT_EQ(range->last, 1000);
  EXPECT_EQ(range->step, 50);
  EXPECT_EQ(range->size(), 10);
  EXPECT_EQ(parse_integer_range("0:4")->size(), 5);
  EXPECT_EQ(parse_integer_range("7:7")->size(), 1);
}

TEST(IntegerRange, IsNothingElse) {
  for (const char* text : {"", "3", ":", "1:", ":4", "1:2:", "1:2:0", "1:2:-1", "2:1", "-1:3", "1:2:3:4",
                           "a:b", "0x1:3", "1 :2", "1:99999999999999999999"}) {
    EXPECT_FALSE(parse_integer_range(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace che
