#include "plots/accuracy_over_length.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "plots/curve_panels.h"
#include "plots/gnuplot/axis_marks.h"
#include "plots/gnuplot/gnuplot.h"
#include "plots/gnuplot/panel_grid.h"

namespace che {
namespace {

constexpr const char* kMeasured = "test lengths";

std::vector<Measurement> accuracy_by_length(const TableRun& run) {
  std::vector<Measurement> measured;
  for (const EvaluationRow& row : run.evaluation) {
    measured.push_back({.x = static_cast<double>(row.length), .y = 100 * row.accuracy});
  }
  return measured;
}

// The lengths that a panel's runs were trained on, and the longest length it shows.
struct Lengths {
  std::int64_t first_trained = 0;
  std::int64_t last_trained = 0;
  std::int64_t last = 1;
};

Lengths lengths_of(const ResultTable& table, const CurvePanel& panel) {
  Lengths lengths;
  for (const CurvePanel::Entry& entry : panel.entries) {
    const TableCell* const cell = table.cell(panel.row->task, table.encodings[entry.column]);
    for (const std::size_t i : cell->finished) {
      const TableRun& run = table.runs[i];
      lengths.last = std::max(lengths.last, run.evaluation.back().length);
      if (run.config.is_foreign()) continue;
      const TrainingConfig& training = run.config.training;
      lengths.first_trained = lengths.first_trained == 0
                                  ? training.first_length
                                  : std::min(lengths.first_trained, training.first_length);
      lengths.last_trained = std::max(lengths.last_trained, training.last_length);
      lengths.last = std::max(lengths.last, training.last_length);
    }
  }
  return lengths;
}

// Of everything that the panel shows, in percent.
double lowest_value(const CurvePanel& panel) {
  double low = 100 * panel.row->chance;
  for (const CurvePanel::Entry& entry : panel.entries) {
    for (const CurvePoint& point : entry.curve.points) low = std::min(low, point.low);
  }
  return low;
}

std::string position_data(const std::vector<TrivialBaselines::AtLength>& lengths) {
  std::string data = "$position << EOD\n";
  const std::size_t group = curve_group(lengths.size());
  for (std::size_t first = 0; first < lengths.size(); first += group) {
    const std::size_t end = std::min(first + group, lengths.size());
    double length = 0;
    double accuracy = 0;
    for (std::size_t i = first; i < end; ++i) {
      length += static_cast<double>(lengths[i].length) / static_cast<double>(end - first);
      accuracy += 100 * lengths[i].position_only / static_cast<double>(end - first);
    }
    data += fmt::format("{:.6g} {:.6g}\n", length, accuracy);
  }
  return data + "EOD\n";
}

// The accuracy at the training lengths of what a curve shows, in percent; nothing where it is not known.
std::optional<double> training_accuracy(const ResultTable& table, const TableCell& cell,
                                        Aggregate aggregate) {
  std::vector<double> known;
  for (const TableRun* run : runs_of_curve(table, cell, aggregate)) {
    if (run->training) known.push_back(100 * run->training->accuracy);
  }
  if (known.empty()) return std::nullopt;
  return aggregate_of(known, aggregate == Aggregate::kMax ? Aggregate::kMean : aggregate);
}

// One marker per encoding over the training lengths, in the order of the columns from left to right.
std::vector<std::string> append_training_marks(std::string& script, const ResultTable& table,
                                               const CurvePanel& panel, const Lengths& lengths,
                                               Aggregate aggregate, const std::vector<LineStyle>& styles) {
  std::vector<std::string> elements;
  const auto width = static_cast<double>(lengths.last_trained - lengths.first_trained);
  for (std::size_t c = 0; c < panel.entries.size(); ++c) {
    const std::size_t column = panel.entries[c].column;
    const TableCell* const cell = table.cell(panel.row->task, table.encodings[column]);
    const auto accuracy = training_accuracy(table, *cell, aggregate);
    if (!accuracy) continue;
    const double place = static_cast<double>(lengths.first_trained) +
                         width * static_cast<double>(c + 1) / static_cast<double>(panel.entries.size() + 1);
    script += fmt::format("$t{} << EOD\n{:.6g} {:.6g}\nEOD\n", c, place, *accuracy);
    elements.push_back(
        fmt::format("$t{} with {} title {}", c, marker_text(styles[column]),
                    gnuplot_string(table.encodings[column].text() + ", accuracy at the training lengths")));
  }
  return elements;
}

// Whether no curve is, on average over the lengths, above what predictors without the input reach, but for
// noise.
bool says_nothing(const CurvePanel& panel) {
  constexpr double kNoise = 2;  // Percent.
  double without_input = panel.row->chance;
  if (panel.row->baselines) {
    without_input = std::max(
        {without_input, panel.row->baselines->position_only.score, panel.row->baselines->constant.score});
  }
  return std::ranges::none_of(panel.entries, [&](const CurvePanel::Entry& entry) {
    double mean = 0;
    for (const CurvePoint& point : entry.curve.points) {
      mean += point.high / static_cast<double>(entry.curve.points.size());
    }
    return mean > 100 * without_input + kNoise;
  });
}

// Removes the panels that say nothing, unless all do, and returns a sentence that names them.
std::string fold(std::vector<CurvePanel>& panels) {
  if (std::ranges::all_of(panels, says_nothing)) return "";
  std::vector<std::string> names;
  for (const CurvePanel& panel : panels) {
    if (says_nothing(panel)) names.push_back(panel.row->task.text());
  }
  std::erase_if(panels, says_nothing);
  if (names.empty()) return "";
  return fmt::format(
      " Not drawn, since no encoding is 2 points above predictors that do not see the input: {}.",
      fmt::join(names, ", "));
}

void append_panel(std::string& script, const ResultTable& table, const PanelGrid& grid,
                  const CurvePanel& panel, std::size_t index, const std::vector<LineStyle>& styles,
                  Aggregate aggregate) {
  const Lengths lengths = lengths_of(table, panel);
  const std::vector<std::string> training =
      append_training_marks(script, table, panel, lengths, aggregate, styles);
  if (shows_positions(*panel.row)) script += position_data(panel.row->baselines->lengths);
  script += grid.place(index, panel.row->task.text(), "length", "accuracy (%)");
  script += percent_axis('y', lowest_value(panel));
  script += fmt::format("set xrange [1:{}]\n", lengths.last);
  const double step = std::max(1.0, mark_step(static_cast<double>(lengths.last), 5));
  // The axis begins at 1, where a multiple of the step would be 0.
  script +=
      fmt::format("set xtics nomirror out scale 0.6 offset 0,0.3 {},{}\nset xtics add (1)\n", step, step);
  script += fmt::format(
      "set object 1 rectangle from first {}, graph 0 to first {}, graph 1 behind fc rgb '{}' fs solid "
      "noborder\n",
      lengths.first_trained, lengths.last_trained, kShade);
  script += "plot ";
  script +=
      fmt::format("{} with lines {} title 'chance', ", 100 * panel.row->chance, line_text(chance_style()));
  script += curve_elements(panel, index, styles, table.encodings);
  for (const std::string& element : training) script += ", " + element;
  if (shows_positions(*panel.row)) {
    script += fmt::format(", $position with {} title 'position only'",
                          curve_text(position_style(), panel.row->baselines->lengths.size()));
  }
  script += "\nunset object 1\n";
}

}  // namespace

std::string accuracy_over_length_script(const ResultTable& table, Aggregate aggregate,
                                        const FigureFormat& format, const std::filesystem::path& file) {
  std::vector<CurvePanel> panels = curve_panels(table, aggregate, accuracy_by_length, kMeasured);
  const std::string folded = fold(panels);
  const std::vector<LineStyle> styles = line_styles(table.encodings);
  std::vector<LegendEntry> legend = curve_legend(table, panels, styles);
  legend.push_back({.label = "chance", .line = chance_style()});
  if (std::ranges::any_of(panels, [](const CurvePanel& panel) { return shows_positions(*panel.row); })) {
    legend.push_back({.label = "position only", .line = position_style()});
  }
  legend.push_back({.label = "training lengths", .line = std::nullopt});
  std::string caption =
      curve_caption(panels, aggregate, kMeasured) +
      " Markers in the grey area: accuracy at the training lengths, from left to right as in the legend.";
  if (std::ranges::any_of(panels, [](const CurvePanel& panel) { return shows_positions(*panel.row); })) {
    caption += positions_caption();
  }
  const PanelGrid grid(panels.size(), std::move(legend), caption + folded,
                       {.canvas_width = format.canvas_width()});

  std::string script = curve_data(panels) + grid.begin(format, file);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    append_panel(script, table, grid, panels[i], i, styles, aggregate);
  }
  return script + grid.end();
}

}  // namespace che
