#include "core/number_text.h"

#include <gtest/gtest.h>

#include <limits>

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

}  // namespace
}  // namespace che
