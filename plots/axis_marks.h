#pragma once

namespace che {

// The least step between marks of an axis that spans `span` > 0, so that there are at most `marks`
// of them beside the first: 1, 2 or 5 times a power of ten.
double mark_step(double span, int marks);

}  // namespace che
