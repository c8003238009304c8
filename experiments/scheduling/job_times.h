#pragma once

#include <cstdint>
#include <vector>

#include "experiments/scheduling/time_left.h"

namespace che {

// What jobs that take so long each take side by side, with so many worker processes: all of them over the
// workers, and not less than the longest.
TimeRange side_by_side(const std::vector<TimeRange>& jobs, double workers);

// A job whose time was measured.
struct MeasuredJob {
  TimeRange time;
  bool is_on_gpu = false;
};

// What each job takes on a machine whose other processes may go on: at the upper end, `load` of them compete
// with `threads` of ours for `cores`, which a job on a GPU hardly needs. The lower end is that of a machine
// that we have alone.
std::vector<TimeRange> under_load(const std::vector<MeasuredJob>& jobs, double threads, double load,
                                  std::int64_t cores);

}  // namespace che
