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

std::string percent_axis(char axis, double lowest) {
  const double low = std::max(0.0, std::floor((lowest - 4) / 10) * 10);
  return fmt::format("set {0}range [{1}:101]\nset {0}tics nomirror out scale 0.6 offset {2} 0,{3},100\n",
                     axis, low, axis == 'x' ? "0,0.3" : "0.4,0", low < 40 ? 20 : 10);
}

}  // namespace che
