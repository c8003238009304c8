#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "experiments/results/result_table.h"

namespace che {

// A point of a cell's curve: what stands for its runs, and the lowest and the highest of them.
struct CurvePoint {
  double x = 0;
  double y = 0;
  double low = 0;
  double high = 0;
};

struct CellCurve {
  std::vector<CurvePoint> points;
  std::size_t runs = 0;   // That the band is of; no band below two.
  std::size_t group = 1;  // Neighbouring measurements that a point is the mean of.
};

// More points than this are averaged in groups: a line of hundreds hides its dashes in noise. The groups
// are even, because tasks treat odd and even lengths differently.
inline constexpr std::size_t kMaxCurvePoints = 100;

// What a run measured: pairs of x and y by ascending x.
struct Measurement {
  double x;
  double y;
};
using Measurements = std::function<std::vector<Measurement>(const TableRun&)>;

// So many neighbours among `points` make a point of a curve.
std::size_t curve_group(std::size_t points);

// The finished runs that a cell's curve is of: with kMax those at the learning rate of the run with the best
// score, which comes first and from which they differ in their seeds; else all.
std::vector<const TableRun*> runs_of_curve(const ResultTable& table, const TableCell& cell,
                                           Aggregate aggregate);

// The curve of these runs, with a band that spans them. With kMax a point is their mean, of those that have
// the measurement, where the best run has it; else it is `aggregate` of all, and measurements that not all
// have are left out. Empty without a finished run, and with kMax where the best one has no measurements.
CellCurve cell_curve(const ResultTable& table, const TableCell& cell, Aggregate aggregate,
                     const Measurements& measurements);

}  // namespace che
