#include "plots/axis_marks.h"

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

}  // namespace che
