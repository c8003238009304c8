#pragma once

#include <string>
#include <vector>

#include "experiments/results/result_table.h"

namespace che {

// How an encoding's line looks: its colour and marker stand for the encoding's name, its dashes for the form
// (plain, dape_, randomized_, randomized_dape_). Of labels that differ in settings only the first has the
// encoding's marker; others have another and, where these run out, another width. So have models that are not
// registered.
struct LineStyle {
  std::string colour;  // "#0072B2"
  std::string dashes;  // A gnuplot dash type.
  double width = 2;
  int marker = 0;  // A gnuplot point type; 0 for none.
};

// The dotted line of guessing, in every figure.
LineStyle chance_style();

// The line of predictors that know only positions, drawn in rows where these score more than guessing by more
// than the noise of few samples, and what a caption says of it.
LineStyle position_style();
bool shows_positions(const TableRow& row);
std::string positions_caption();

// Styles of `labels`, in their order. Colour and dashes depend only on a label, so that an encoding
// looks the same in every figure. EncodingEntry has the colour and the marker.
std::vector<LineStyle> line_styles(const std::vector<EncodingLabel>& labels);

}  // namespace che
