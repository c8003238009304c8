#pragma once

#include <string>
#include <vector>

#include "experiments/result_table.h"

namespace che {

// How an encoding's line looks: its colour tells the encoding's name, its dashes the form (plain,
// dape_, randomized_, randomized_dape_), markers and, where these run out, the width tell apart labels that
// differ in settings only.
struct LineStyle {
  std::string colour;  // "#0072B2"
  std::string dashes;  // A gnuplot dash type.
  double width = 2;
  int marker = 0;  // A gnuplot point type; 0 for none.
};

// The dotted line of guessing, in every figure.
LineStyle chance_style();

// Likewise of predictors that know positions alone, drawn in rows where these tell more than guessing does,
// by more than the noise of few samples.
LineStyle position_style();
bool shows_positions(const TableRow& row);

// Styles of `labels`, in their order. Colour and dashes depend on a label alone, so that an encoding
// looks the same in every figure. The palette is Okabe and Ito's for colour-blind readers, its yellow
// darkened to stand out from white.
std::vector<LineStyle> line_styles(const std::vector<std::string>& labels);

}  // namespace che
