#include "plots/gnuplot/panel_grid.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

namespace che {
namespace {

// What gnuplot does not draw: it leaves labels beyond the canvas out.
TEST(PanelGrid, KeepsLongLegendsOnTheCanvas) {
  const std::string name = "dape_kerple(" + std::string(200, 'x') + ")";
  const PanelGrid grid(1, {{.label = name, .line = LineStyle()}, {.label = "rope", .line = LineStyle()}},
                       "Caption.", PanelShape());
  const std::string script = grid.begin("svg", "figure.svg");
  EXPECT_EQ(std::string::npos, script.find(name));
  EXPECT_NE(std::string::npos, script.find("dape_kerple(xxx"));
  EXPECT_NE(std::string::npos, script.find("rope"));
  const std::regex place("set label [^\n]* at screen ([-0-9.e]+), screen ([-0-9.e]+) left");
  int labels = 0;
  for (auto one = std::sregex_iterator(script.begin(), script.end(), place); one != std::sregex_iterator();
       ++one) {
    ++labels;
    EXPECT_GE(std::stod((*one)[1].str()), 0);
    EXPECT_LE(std::stod((*one)[1].str()), 1);
  }
  EXPECT_GE(labels, 2);
}

}  // namespace
}  // namespace che
