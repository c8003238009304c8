#include "plots/cell_curve.h"

#include <algorithm>
#include <map>

namespace che {
namespace {

std::vector<CurvePoint> grouped(const std::vector<CurvePoint>& points, std::size_t group) {
  std::vector<CurvePoint> result;
  for (std::size_t first = 0; first < points.size(); first += group) {
    const std::size_t end = std::min(first + group, points.size());
    const auto count = static_cast<double>(end - first);
    CurvePoint& mean = result.emplace_back();
    for (std::size_t i = first; i < end; ++i) {
      mean.x += points[i].x / count;
      mean.y += points[i].y / count;
      mean.low += points[i].low / count;
      mean.high += points[i].high / count;
    }
  }
  return result;
}

}  // namespace

std::size_t curve_group(std::size_t points) {
  if (points <= kMaxCurvePoints) return 1;
  return (points / (kMaxCurvePoints / 2) + 1) / 2 * 2;
}

std::vector<const TableRun*> runs_of_curve(const ResultTable& table, const TableCell& cell,
                                           Aggregate aggregate) {
  std::vector<const TableRun*> runs;
  if (cell.finished.empty()) return runs;
  const TableRun& best = table.runs[cell.best];
  if (aggregate == Aggregate::kMax) runs.push_back(&best);
  for (const std::size_t i : cell.finished) {
    const TableRun& run = table.runs[i];
    const bool shown = aggregate != Aggregate::kMax ||
                       (i != cell.best && run.config.learning_rate == best.config.learning_rate);
    if (shown) runs.push_back(&run);
  }
  return runs;
}

CellCurve cell_curve(const ResultTable& table, const TableCell& cell, Aggregate aggregate,
                     const Measurements& measurements) {
  const bool follows_best = aggregate == Aggregate::kMax;
  std::vector<const TableRun*> runs = runs_of_curve(table, cell, aggregate);
  if (follows_best && (runs.empty() || measurements(*runs.front()).empty())) return {};
  // A run whose measurements were lost keeps its score and hides nobody's curve.
  std::erase_if(runs, [&](const TableRun* run) { return measurements(*run).empty(); });
  std::map<double, std::vector<double>> values;  // By x, in the order of the runs.
  for (const TableRun* run : runs) {
    for (const Measurement& one : measurements(*run)) {
      if (!follows_best || run == runs.front() || values.contains(one.x)) values[one.x].push_back(one.y);
    }
  }
  std::vector<CurvePoint> points;
  for (const auto& [x, ys] : values) {
    if (!follows_best && ys.size() < runs.size()) continue;
    const auto [low, high] = std::minmax_element(ys.begin(), ys.end());
    points.push_back({.x = x,
                      .y = aggregate_of(ys, follows_best ? Aggregate::kMean : aggregate),
                      .low = *low,
                      .high = *high});
  }
  const std::size_t group = curve_group(points.size());
  return {.points = grouped(points, group), .runs = runs.size(), .group = group};
}

}  // namespace che
