#include "plots/gnuplot/axis_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace che {

double mark_step(double span, int marks) {
  // A power of ten below what is looked for.
  double step = std::pow(10, std::floor(std::log10(span / marks)));
  while (true) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (span <= step * factor * marks) return step * factor;
    }
    step *= 10;
  }
}

std::string percent_axis(char axis, double lowest, double length) {
  const double low = std::max(0.0, std::floor((lowest - 4) / 10) * 10);
  constexpr double kMark = 40;  // What "100" takes with some space.
  double step = low < 40 ? 20 : 10;
  for (const double wider : {20.0, 50.0}) {
    if (length > 0 && (100 - low) / step * kMark > length) step = wider;
  }
  return fmt::format("set {0}range [{1}:101]\nset {0}tics nomirror out scale 0.6 offset {2} 0,{3},100\n",
                     axis, low, axis == 'x' ? "0,0.3" : "0.4,0", step);
}

std::string step_axis(double last_step) {
  const double step = std::max(1.0, mark_step(last_step, 4));
  const bool thousands = step >= 1000;
  return fmt::format(
      "set xrange [0:{}]\nset format x '{}'\nset xtics nomirror out scale 0.6 offset 0,0.3 0,{}\n", last_step,
      thousands ? "%.0s%c" : "%g", step);
}

}  // namespace che
