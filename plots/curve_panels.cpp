#include "plots/curve_panels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "plots/gnuplot/gnuplot.h"
#include "plots/short_labels.h"

namespace che {
namespace {

std::string data_name(std::size_t panel, std::size_t entry) { return fmt::format("$p{}c{}", panel, entry); }

std::string markers_name(std::size_t panel, std::size_t entry) {
  return fmt::format("$p{}m{}", panel, entry);
}

// What lines between the points have at x.
double value_at(const std::vector<CurvePoint>& points, double x) {
  const auto right = std::ranges::lower_bound(points, x, {}, &CurvePoint::x);
  if (right == points.begin()) return points.front().y;
  if (right == points.end()) return points.back().y;
  const auto left = right - 1;
  return left->y + (right->y - left->y) * (x - left->x) / (right->x - left->x);
}

// The places of a line's markers. Those of `lines` lines take turns, so that lines that coincide do not hide
// one another.
std::vector<double> marker_places(const std::vector<CurvePoint>& points, std::size_t line,
                                  std::size_t lines) {
  constexpr int kMarkers = 4;
  const double step = (points.back().x - points.front().x) / kMarkers;
  std::vector<double> places;
  for (int i = 0; i < kMarkers; ++i) {
    const double turn = (static_cast<double>(line) + 0.5) / static_cast<double>(lines);
    places.push_back(points.front().x + (i + turn) * step);
  }
  return places;
}

bool has_its_band(const CellCurve& curve) { return curve.runs > 1 && curve.points.size() > 1; }

}  // namespace

bool CurvePanel::has_band() const {
  return std::ranges::any_of(entries, [](const Entry& entry) { return has_its_band(entry.curve); });
}

std::size_t CurvePanel::largest_group() const {
  std::size_t largest = 1;
  for (const Entry& entry : entries) largest = std::max(largest, entry.curve.group);
  return largest;
}

std::vector<CurvePanel> curve_panels(const ResultTable& table, Aggregate aggregate,
                                     const Measurements& measurements, const std::string& measured) {
  std::vector<CurvePanel> panels;
  for (const TableRow& row : table.rows) {
    CurvePanel panel{.row = &row, .entries = {}};
    for (std::size_t i = 0; i < table.encodings.size(); ++i) {
      const TableCell* const cell = table.cell(row.task, table.encodings[i]);
      if (cell == nullptr) continue;
      CellCurve curve = cell_curve(table, *cell, aggregate, measurements);
      if (!curve.points.empty()) panel.entries.push_back({.column = i, .curve = std::move(curve)});
    }
    if (!panel.entries.empty()) panels.push_back(std::move(panel));
  }
  if (!panels.empty()) return panels;
  const bool finished =
      std::ranges::any_of(table.runs, [](const TableRun& run) { return run.score.has_value(); });
  throw Error(finished ? fmt::format("nothing to draw: no finished run has {}", measured)
                       : "nothing to draw: no run has finished; run the experiment to its end");
}

std::string curve_caption(const std::vector<CurvePanel>& panels, Aggregate aggregate,
                          const std::string& measured) {
  const bool has_bands = std::ranges::any_of(panels, &CurvePanel::has_band);
  std::string caption;
  if (aggregate != Aggregate::kMax) {
    caption = fmt::format("Lines: {} over the runs of a cell", aggregate_phrase(aggregate));
  } else if (has_bands) {
    caption = "Lines: mean over the seeds at the learning rate of the cell's best run";
  } else {
    caption = "Lines: the best run of each cell";
  }
  if (has_bands) caption += "; bands: the range";
  std::size_t group = 1;
  for (const CurvePanel& panel : panels) group = std::max(group, panel.largest_group());
  if (group > 1) caption += fmt::format("; each point is the mean over {} neighbouring {}", group, measured);
  if (std::ranges::any_of(panels, [](const CurvePanel& panel) { return panel.entries.size() > 1; })) {
    caption +=
        ". Markers identify the lines; they are placed in turn, not at measured points, so that lines that "
        "coincide stay visible";
  }
  return caption + ".";
}

std::vector<LegendEntry> curve_legend(const ResultTable& table, const std::vector<CurvePanel>& panels,
                                      const std::vector<LineStyle>& styles) {
  const std::vector<EncodingLabel> labels = short_labels(table.encodings);
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < styles.size(); ++i) {
    const bool shown = std::ranges::any_of(panels, [&](const CurvePanel& panel) {
      return std::ranges::any_of(panel.entries,
                                 [&](const CurvePanel::Entry& entry) { return entry.column == i; });
    });
    if (shown) legend.push_back({.label = labels[i].text(), .line = styles[i]});
  }
  return legend;
}

std::string curve_data(const std::vector<CurvePanel>& panels) {
  std::string script;
  for (std::size_t p = 0; p < panels.size(); ++p) {
    for (std::size_t c = 0; c < panels[p].entries.size(); ++c) {
      script += data_name(p, c) + " << EOD\n";
      for (const CurvePoint& point : panels[p].entries[c].curve.points) {
        script += fmt::format("{:.6g} {:.6g} {:.6g} {:.6g}\n", point.x, point.y, point.low, point.high);
      }
      script += "EOD\n";
      const std::vector<CurvePoint>& points = panels[p].entries[c].curve.points;
      if (points.size() < 2) continue;
      script += markers_name(p, c) + " << EOD\n";
      for (const double x : marker_places(points, c, panels[p].entries.size())) {
        script += fmt::format("{:.6g} {:.6g}\n", x, value_at(points, x));
      }
      script += "EOD\n";
    }
  }
  return script;
}

std::string curve_elements(const CurvePanel& panel, std::size_t index, const std::vector<LineStyle>& styles,
                           const std::vector<EncodingLabel>& labels) {
  std::vector<std::string> elements;
  const auto bands = static_cast<std::size_t>(std::ranges::count_if(
      panel.entries, [](const CurvePanel::Entry& entry) { return has_its_band(entry.curve); }));
  // Bands lie below all lines.
  for (std::size_t c = 0; c < panel.entries.size(); ++c) {
    if (!has_its_band(panel.entries[c].curve)) continue;
    const CurvePanel::Entry& entry = panel.entries[c];
    elements.push_back(fmt::format(
        "{} using 1:3:4 with {} title {}", data_name(index, c), band_text(styles[entry.column].colour, bands),
        gnuplot_string(
            fmt::format("{}, range over {} runs", labels[entry.column].text(), entry.curve.runs))));
  }
  for (std::size_t c = 0; c < panel.entries.size(); ++c) {
    const CurvePanel::Entry& entry = panel.entries[c];
    const LineStyle& style = styles[entry.column];
    const std::size_t points = entry.curve.points.size();
    const std::string title = gnuplot_string(labels[entry.column].text());
    elements.push_back(
        fmt::format("{} with {} title {}", data_name(index, c), curve_text(style, points), title));
    if (points == 1 || style.marker == 0) continue;
    elements.push_back(fmt::format("{} with {} title {}", markers_name(index, c), marker_text(style), title));
  }
  return fmt::format("{}", fmt::join(elements, ", "));
}

}  // namespace che
