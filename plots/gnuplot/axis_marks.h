#pragma once

#include <string>

namespace che {

// The least step between marks of an axis that spans `span` > 0, so that there are at most `marks`
// of them besides the first: 1, 2 or 5 times a power of ten.
double mark_step(double span, int marks);

// Lines of a gnuplot script for an axis of percentages ('x' or 'y') that ends at 100 and begins at the
// ten below `lowest`. A line at 100 % keeps its full width. An axis of few pixels has fewer marks.
std::string percent_axis(char axis, double lowest, double length = 0);

// The same for the horizontal axis of training steps, from 0: thousands as "50k", so that marks do not touch.
std::string step_axis(double last_step);

}  // namespace che
