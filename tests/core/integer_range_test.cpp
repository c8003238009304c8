#include <gtest/gtest.h>

#include "core/number_text.h"

namespace che {
namespace {

TEST(IntegerRange, IncludesBothEnds) {
  const auto range = parse_integer_range("501:1000:50");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->first, 501);
  EXPECT_EQ(range->last, 1000);
  EXPECT_EQ(range->step, 50);
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(parse_integer_range("1:10:4")->values(3), (Values{1, 5, 9}));
  EXPECT_EQ(parse_integer_range("1:9:4")->values(3), (Values{1, 5, 9}));
  EXPECT_EQ(parse_integer_range("7:7")->values(1), Values{7});
  EXPECT_FALSE(parse_integer_range("0:4")->values(4).has_value());
}

TEST(IntegerRange, ReachesToTheLargestNumber) {
  EXPECT_FALSE(parse_integer_range("0:9223372036854775807")->values(100'000).has_value());
  const auto last = parse_integer_range("9223372036854775800:9223372036854775807:5")->values(100'000);
  EXPECT_EQ(last, (std::vector<std::int64_t>{9223372036854775800, 9223372036854775805}));
}

TEST(IntegerRange, IsNothingElse) {
  for (const char* text : {"", "3", ":", "1:", ":4", "1:2:", "1:2:0", "1:2:-1", "2:1", "-1:3", "1:2:3:4",
                           "a:b", "0x1:3", "1 :2", "1:99999999999999999999"}) {
    EXPECT_FALSE(parse_integer_range(text).has_value()) << text;
  }
}

TEST(IntegerRange, OfOneNumberMayBeWrittenAsTheNumber) {
  const auto one = parse_number_or_range("200");
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->values(2), std::vector<std::int64_t>{200});
  EXPECT_EQ(parse_number_or_range("1:3")->values(9), (std::vector<std::int64_t>{1, 2, 3}));
  for (const char* text : {"", "-1", "2.5", "3:", "a"}) {
    EXPECT_FALSE(parse_number_or_range(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace che
