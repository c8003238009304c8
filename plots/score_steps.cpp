#include "plots/score_steps.h"

#include <algorithm>
#include <vector>

#include "experiments/results/effects.h"
#include "plots/curve_panels.h"
#include "plots/gnuplot/axis_marks.h"
#include "plots/gnuplot/panel_grid.h"

namespace che {
namespace {

constexpr const char* kMeasured = "scores on the way";

std::vector<Measurement> score_by_step(const TableRun& run) {
  std::vector<Measurement> measured;
  for (const auto& [step, score] : step_scores(run)) {
    measured.push_back({.x = static_cast<double>(step), .y = 100 * score});
  }
  return measured;
}

}  // namespace

std::string score_steps_script(const ResultTable& table, Aggregate aggregate, const FigureFormat& format,
                               const std::filesystem::path& file) {
  const std::vector<CurvePanel> panels = curve_panels(table, aggregate, score_by_step, kMeasured);
  const std::vector<LineStyle> styles = line_styles(table.encodings);
  const PanelGrid grid(panels.size(), curve_legend(table, panels, styles),
                       curve_caption(panels, aggregate, kMeasured), {.canvas_width = format.canvas_width()});
  std::string script = curve_data(panels) + grid.begin(format, file);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    double lowest = 100;
    double last_step = 1;
    for (const CurvePanel::Entry& entry : panels[i].entries) {
      for (const CurvePoint& point : entry.curve.points) {
        lowest = std::min(lowest, point.low);
        last_step = std::max(last_step, point.x);
      }
    }
    script += grid.place(i, panels[i].row->task.text(), "training step", "score (%)");
    script += percent_axis('y', lowest) + step_axis(last_step);
    script += "plot " + curve_elements(panels[i], i, styles, table.encodings) + "\n";
  }
  return script + grid.end();
}

}  // namespace che
