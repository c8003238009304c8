#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "experiments/results/result_table.h"

namespace che {

// A point of a curve, which is several runs as one line of a figure: what stands for the runs, the lowest and
// the highest of them, and how many have the measurement.
struct CurvePoint {
  double x = 0;
  double first = 0;  // x of the first and the last measurement that the point is the mean of.
  double last = 0;
  double y = 0;
  double low = 0;
  double high = 0;
  std::size_t runs = 0;
};

// Returns a run's measurements as pairs of x and y, by ascending x.
using Measurements = std::function<std::vector<std::pair<double, double>>(const TableRun&)>;

// Returns the finished runs that a cell's curve shows. With kMax they are those at the learning rate of the
// run with the best score, which comes first; they differ from it in their seeds. Otherwise they are all.
std::vector<const TableRun*> runs_of_curve(const ResultTable& table, const TableCell& cell,
                                           Aggregate aggregate);

// The curve of these runs. With kMax a point is the mean of those that have the measurement, where the best
// run has it. Otherwise it is `aggregate` of all, and measurements that not all have are left out. More than
// 100 points are averaged in groups of neighbours, which have the runs of the point with the fewest; a gap
// ends a group.
std::vector<CurvePoint> curve_of(const ResultTable& table, const TableCell& cell, Aggregate aggregate,
                                 const Measurements& measurements);

}  // namespace che
