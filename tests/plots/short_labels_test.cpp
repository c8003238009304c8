#include "plots/short_labels.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(ShortLabels, NameASettingByItsLastPartWhereThatIsEnough) {
  const EncodingForm rope{.name = "rope"};
  const std::vector<EncodingLabel> labels =
      short_labels({{rope, {{"training.dropout", "0"}}},
                    {rope, {{"training.dropout", "0.2"}, {"dape.hidden", "8"}}},
                    {rope, {{"hidden", "16"}}},
                    {rope}});
  EXPECT_EQ(labels[0].text(), "rope(dropout=0)");
  EXPECT_EQ(labels[1].text(), "rope(dropout=0.2, dape.hidden=8)");
  EXPECT_EQ(labels[2].text(), "rope(hidden=16)");
  EXPECT_EQ(labels[3].text(), "rope");
}

}  // namespace
}  // namespace che
