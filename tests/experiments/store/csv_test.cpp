#include "experiments/store/csv.h"

#include <gtest/gtest.h>

#include "core/error.h"

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

TEST(Csv, TheChecksumCoversEveryByteAndItsOwner) {
  const std::string text = with_checksum_column("a,b\n1,2\n3,4\n", "run");
  const std::vector<std::string> columns = {"a", "b", "checksum"};
  const auto check = [&](const std::string& content, const char* key) {
    CsvRows("file", content, columns, "remedy").check_checksum(key);
  };
  EXPECT_NO_THROW(check(text, "run"));
  EXPECT_THROW(check(text, "other run"), Error);
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_THROW(check(text.substr(0, i), "run"), Error) << i;
    std::string flipped = text;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_THROW(check(flipped, "run"), Error) << i;
  }
}

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(csv_field("rope"), "rope");
  EXPECT_EQ(csv_field("a, b"), "\"a, b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

}  // namespace
}  // namespace che
