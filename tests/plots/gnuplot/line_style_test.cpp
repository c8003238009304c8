#include "plots/gnuplot/line_style.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <utility>

namespace che {
namespace {

EncodingLabel label(const std::string& name, bool dape = false, bool randomized = false) {
  EncodingLabel label;
  label.form = {.name = name, .dape = dape, .randomized = randomized};
  return label;
}

TEST(LineStyle, DependsOnlyOnTheLabel) {
  const LineStyle single = line_styles({label("kerple", true)}).front();
  const LineStyle among =
      line_styles({label("none"), label("kerple"), label("alibi", true), label("kerple", true)}).back();
  EXPECT_EQ(single.colour, among.colour);
  EXPECT_EQ(single.dashes, among.dashes);
  EXPECT_EQ(single.marker, among.marker);
}

TEST(LineStyle, NoTwoLabelsLookAlike) {
  std::vector<EncodingLabel> labels;
  for (const auto& [dape, randomized] :
       {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    for (const char* name : {"none", "rope", "alibi", "kerple", "of_another_program"}) {
      labels.push_back(label(name, dape, randomized));
    }
  }
  for (int hidden = 1; hidden < 30; ++hidden) {
    labels.push_back(label("kerple", true));
    labels.back().settings = {{"encoding.dape.hidden", std::to_string(hidden)}};
  }
  std::set<std::tuple<std::string, std::string, int, double>> looks;
  for (const LineStyle& style : line_styles(labels)) {
    looks.emplace(style.colour, style.dashes, style.marker, style.width);
  }
  EXPECT_EQ(looks.size(), labels.size());
}

TEST(LineStyle, FormsOfAnEncodingShareItsColourAndMarker) {
  const std::vector<LineStyle> styles =
      line_styles({label("alibi"), label("alibi", true), label("alibi", false, true)});
  EXPECT_GT(styles[0].marker, 0);
  EXPECT_EQ(styles[0].marker, styles[1].marker);
  EXPECT_EQ(styles[0].colour, styles[1].colour);
  EXPECT_EQ(styles[0].colour, styles[2].colour);
  EXPECT_EQ(styles[0].dashes, "solid");
}

}  // namespace
}  // namespace che
