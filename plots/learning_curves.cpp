#include "plots/learning_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plots/curve_panels.h"
#include "plots/gnuplot/axis_marks.h"
#include "plots/gnuplot/panel_grid.h"

namespace che {
namespace {

constexpr const char* kMeasured = "records of its training";

// A loss that single precision cannot tell from zero.
constexpr double kMinLoss = 1e-7;

std::vector<Measurement> loss_by_step(const TableRun& run) {
  std::vector<Measurement> measured;
  for (const MetricsRow& row : run.metrics) {
    if (!std::isfinite(row.loss)) continue;
    measured.push_back({.x = static_cast<double>(row.step), .y = std::max(row.loss, kMinLoss)});
  }
  return measured;
}

struct Range {
  double low = INFINITY;
  double high = 0;
  double last_step = 1;
};

Range range_of(const CurvePanel& panel) {
  Range range;
  for (const CurvePanel::Entry& entry : panel.entries) {
    for (const CurvePoint& point : entry.curve.points) {
      range.low = std::min(range.low, point.low);
      range.high = std::max(range.high, point.high);
      range.last_step = std::max(range.last_step, point.x);
    }
  }
  return range;
}

// More than a decade needs a logarithmic axis.
bool spans_decades(const Range& range) { return range.high > 20 * range.low; }

std::string axes_caption(const std::vector<CurvePanel>& panels) {
  const auto spans = [](const CurvePanel& panel) { return spans_decades(range_of(panel)); };
  return std::ranges::any_of(panels, spans) ? " Losses that span decades stand on a logarithmic axis." : "";
}

std::string loss_axis(const Range& range) {
  if (!spans_decades(range)) {
    const double step = mark_step(range.high, 5);
    return fmt::format(
        "unset logscale y\nset format y '%g'\nset yrange [0:{}]\n"
        "set ytics nomirror out scale 0.6 offset 0.4,0 0,{}\n",
        1.05 * range.high, step);
  }
  const double first = std::floor(std::log10(range.low));
  const double last = std::ceil(std::log10(range.high));
  // At most six marks, whole decades apart.
  const double decades = std::max(1.0, std::ceil((last - first) / 6));
  return fmt::format(
      "set logscale y\nset format y '1e%T'\nset yrange [1e{}:1e{}]\n"
      "set ytics nomirror out scale 0.6 offset 0.4,0 1e{}\n",
      first, last, decades);
}

}  // namespace

std::string learning_curves_script(const ResultTable& table, Aggregate aggregate, const FigureFormat& format,
                                   const std::filesystem::path& file) {
  const std::vector<CurvePanel> panels = curve_panels(table, aggregate, loss_by_step, kMeasured);
  const std::vector<LineStyle> styles = line_styles(table.encodings);
  const PanelGrid grid(panels.size(), curve_legend(table, panels, styles),
                       curve_caption(panels, aggregate, kMeasured) + axes_caption(panels),
                       {.left = 10, .canvas_width = format.canvas_width()});
  std::string script = curve_data(panels) + grid.begin(format, file);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Range range = range_of(panels[i]);
    script += grid.place(i, panels[i].row->task.text(), "training step", "training loss (nats)");
    script += loss_axis(range) + step_axis(range.last_step);
    script += "plot " + curve_elements(panels[i], i, styles, table.encodings) + "\n";
  }
  return script + grid.end();
}

}  // namespace che
