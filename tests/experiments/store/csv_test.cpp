#include "experiments/store/csv.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(Csv, ReadsWhatItsColumnsHold) {
  const CsvRows rows("file", "name,count,value\na,3,0.5\n,0,-2e-3\n", {"name", "count", "value"}, "remedy");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.text(0, 0), "a");
  EXPECT_EQ(rows.text(1, 0), "");
  EXPECT_EQ(rows.integer(0, 1), 3);
  EXPECT_EQ(rows.real(1, 2), -2e-3);
}

TEST(Csv, AHeaderAloneHasNoRows) { EXPECT_EQ(CsvRows("file", "a\n", {"a"}, "remedy").size(), 0U); }

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(csv_field("rope"), "rope");
  EXPECT_EQ(csv_field("a, b"), "\"a, b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

}  // namespace
}  // namespace che
