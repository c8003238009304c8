#include "core/number_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace che {
namespace {

TEST(FieldText, WholeNumbers) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-17"), -17);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "-", "010", "-01", "+1", "1.0", "1e3", "0x10", " 1", "1 ", "1_000", "yes",
                           "9223372036854775808"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(FieldText, Reals) {
  EXPECT_EQ(parse_real("1e-3"), 0.001);
  EXPECT_EQ(parse_real("-0.5"), -0.5);
  EXPECT_EQ(parse_real("3"), 3.0);
  for (const char* text :
       {"", "nan", "inf", "-inf", "1e999", "01.5", "+1", "0x1p3", "1,5", "1e-3 ", ".inf"}) {
    EXPECT_EQ(parse_real(text), std::nullopt) << text;
  }
}

TEST(FieldText, RealsSurviveTheirText) {
  for (const double value : {0.1, 3e-4, 1e-5, 1.0 / 3.0, 1e300, 5e-324, 0.0, 200000.0}) {
    EXPECT_EQ(parse_real(real_text(value)), value) << real_text(value);
  }
  EXPECT_EQ(real_text(3e-4), "0.0003");
  EXPECT_EQ(real_text(1.0), "1");
}

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

TEST(IntegerRange, MayBeOneNumber) {
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
