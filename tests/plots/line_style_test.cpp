#include "plots/line_style.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace che {
namespace {

TEST(LineStyle, DependsOnTheLabelAlone) {
  const LineStyle alone = line_styles({"dape_kerple"}).front();
  const LineStyle among = line_styles({"none", "kerple", "dape_alibi", "dape_kerple"}).back();
  EXPECT_EQ(alone.colour, among.colour);
  EXPECT_EQ(alone.dashes, among.dashes);
  EXPECT_EQ(alone.marker, among.marker);
}

TEST(LineStyle, NoTwoLabelsLookAlike) {
  std::vector<std::string> labels;
  for (const char* form : {"", "dape_", "randomized_", "randomized_dape_"}) {
    for (const char* name : {"none", "learned", "sin_cos", "rope", "relative", "alibi", "kerple", "fire",
                             "t5", "cope", "cable", "sandwich"}) {
      labels.push_back(std::string(form) + name);
    }
  }
  for (int hidden = 1; hidden < 30; ++hidden) {
    labels.push_back("dape_kerple(dape.hidden=" + std::to_string(hidden) + ")");
  }
  std::set<std::tuple<std::string, std::string, int, double>> looks;
  for (const LineStyle& style : line_styles(labels)) {
    looks.emplace(style.colour, style.dashes, style.marker, style.width);
  }
  EXPECT_EQ(looks.size(), labels.size());
}

TEST(LineStyle, FormsOfAnEncodingShareItsColour) {
  const std::vector<LineStyle> styles = line_styles({"alibi", "dape_alibi", "randomized_alibi"});
  EXPECT_EQ(styles[0].colour, styles[1].colour);
  EXPECT_EQ(styles[0].colour, styles[2].colour);
  EXPECT_EQ(styles[0].dashes, "solid");
}

}  // namespace
}  // namespace che
