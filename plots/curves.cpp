#include "plots/curves.h"

#include <algorithm>
#include <map>

namespace che {
namespace {

// So many neighbours among `points` make a point of a curve: a line of hundreds hides its dashes in noise.
// The number is even, because tasks treat odd and even lengths differently.
std::size_t curve_group(std::size_t points) {
  constexpr std::size_t kMaxPoints = 100;
  return points <= kMaxPoints ? 1 : (points / (kMaxPoints / 2) + 1) / 2 * 2;
}

std::vector<CurvePoint> grouped(const std::vector<CurvePoint>& points) {
  const std::size_t group = curve_group(points.size());
  std::vector<double> steps;
  for (std::size_t i = 1; i < points.size(); ++i) steps.push_back(points[i].x - points[i - 1].x);
  const double gap = steps.empty() ? 0 : 2 * aggregate_of(steps, Aggregate::kMedian);
  std::vector<CurvePoint> result;
  std::size_t end = 0;
  for (std::size_t first = 0; first < points.size(); first = end) {
    end = first + 1;
    while (end < std::min(first + group, points.size()) && points[end].x - points[end - 1].x < gap) ++end;
    const auto count = static_cast<double>(end - first);
    CurvePoint& mean = result.emplace_back(
        CurvePoint{.first = points[first].x, .last = points[end - 1].x, .runs = points[first].runs});
    for (std::size_t i = first; i < end; ++i) {
      mean.x += points[i].x / count;
      mean.y += points[i].y / count;
      mean.low += points[i].low / count;
      mean.high += points[i].high / count;
      mean.runs = std::min(mean.runs, points[i].runs);
    }
  }
  return result;
}

}  // namespace

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

std::vector<CurvePoint> curve_of(const ResultTable& table, const TableCell& cell, Aggregate aggregate,
                                 const Measurements& measurements) {
  const bool follows_best = aggregate == Aggregate::kMax;
  std::vector<const TableRun*> runs = runs_of_curve(table, cell, aggregate);
  if (follows_best && (runs.empty() || measurements(*runs.front()).empty())) return {};
  // A run whose measurements were lost keeps its score and hides nobody's curve.
  std::erase_if(runs, [&](const TableRun* run) { return measurements(*run).empty(); });
  std::map<double, std::vector<double>> values;  // By x, in the order of the runs.
  for (const TableRun* run : runs) {
    for (const auto& [x, y] : measurements(*run)) {
      if (!follows_best || run == runs.front() || values.contains(x)) values[x].push_back(y);
    }
  }
  std::vector<CurvePoint> points;
  for (const auto& [x, ys] : values) {
    if (!follows_best && ys.size() < runs.size()) continue;
    const auto [low, high] = std::minmax_element(ys.begin(), ys.end());
    points.push_back({.x = x,
                      .first = x,
                      .last = x,
                      .y = aggregate_of(ys, follows_best ? Aggregate::kMean : aggregate),
                      .low = *low,
                      .high = *high,
                      .runs = ys.size()});
  }
  return grouped(points);
}

}  // namespace che
