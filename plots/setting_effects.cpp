#include "plots/setting_effects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/number_text.h"
#include "experiments/results/columns.h"
#include "experiments/results/effects.h"
#include "plots/gnuplot/axis_marks.h"
#include "plots/gnuplot/gnuplot.h"
#include "plots/gnuplot/panel_grid.h"
#include "plots/short_labels.h"

namespace che {
namespace {

using Lines = std::map<EncodingLabel, ScoresByValue>;

using Baselines = std::map<EncodingLabel, std::vector<double>>;

struct Panel {
  std::string path;
  TaskLabel task;
  const Lines* lines;
  const Baselines* without_dape;  // Null where there are none.
};

std::vector<Panel> panels_of(const ResultTable& table, const std::vector<SettingEffect>& effects) {
  std::vector<Panel> panels;
  for (const SettingEffect& effect : effects) {
    for (const TableRow& row : table.rows) {
      const auto found = effect.scores.find(row.task);
      if (found == effect.scores.end()) continue;
      const auto baselines = effect.without_dape.find(row.task);
      panels.push_back(
          {.path = effect.path,
           .task = row.task,
           .lines = &found->second,
           .without_dape = baselines == effect.without_dape.end() ? nullptr : &baselines->second});
    }
  }
  return panels;
}

// Values that span more than a factor of four stand on a logarithmic axis, each with its mark.
std::string value_axis(const Lines& lines) {
  std::set<double> values;
  for (const auto& [label, line] : lines) {
    for (const auto& [value, scores] : line) values.insert(value);
  }
  const double low = *values.begin();
  const double high = *values.rbegin();
  const bool logarithmic = low > 0 && high > 4 * low;
  std::vector<std::string> marks;
  marks.reserve(values.size());
  for (const double value : values) marks.push_back(fmt::format("'{0}' {0}", real_text(value)));
  const double margin = 0.06 * (high - low);
  const std::string range =
      logarithmic ? fmt::format("set logscale x\nset xrange [{}:{}]\n", low / 1.2, high * 1.2)
                  : fmt::format("unset logscale x\nset xrange [{}:{}]\n", low - margin, high + margin);
  return range + fmt::format("set xtics nomirror out scale 0.6 offset 0,0.3 ({})\n", fmt::join(marks, ", "));
}

// The level of an encoding without DAPE, in the colour of the line that it belongs to.
LineStyle baseline_style(LineStyle style) {
  style.dashes = "(2,4)";
  style.width = 2.5;
  style.marker = 0;
  return style;
}

// What a panel calls the encoding without DAPE that belongs to a line.
std::string baseline_name(EncodingLabel label) {
  label.form.dape = false;
  return label.form.text() + " (no DAPE)";
}

double lowest_value(const Panel& panel) {
  const Lines& lines = *panel.lines;
  double low = 1;
  if (panel.without_dape != nullptr) {
    for (const auto& [label, scores] : *panel.without_dape) low = std::min(low, std::ranges::min(scores));
  }
  for (const auto& [label, line] : lines) {
    for (const auto& [value, scores] : line)
      low = std::min(low, *std::min_element(scores.begin(), scores.end()));
  }
  return 100 * low;
}

}  // namespace

std::string setting_effects_script(const ResultTable& table, Aggregate aggregate, const FigureFormat& format,
                                   const std::filesystem::path& file) {
  const std::vector<SettingEffect> effects = setting_effects(table);
  const std::vector<Panel> panels = panels_of(table, effects);
  if (panels.empty()) {
    throw Error(
        "nothing to draw: no two finished runs with the same seed differ only in one number of the config; "
        "give an axis such as learning_rate or encoding.dape.hidden several values");
  }
  std::set<EncodingLabel> distinct;
  bool bands = false;
  for (const Panel& panel : panels) {
    for (const auto& [label, line] : *panel.lines) {
      distinct.insert(label);
      for (const auto& [value, scores] : line) bands = bands || scores.size() > 1;
    }
  }
  std::vector<EncodingLabel> labels(distinct.begin(), distinct.end());
  std::sort(labels.begin(), labels.end(), encoding_before);
  std::map<EncodingLabel, LineStyle> styles;
  std::vector<LegendEntry> legend;
  const std::vector<LineStyle> in_order = line_styles(labels);
  const std::vector<EncodingLabel> names = short_labels(labels);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    styles[labels[i]] = in_order[i];
    legend.push_back({.label = names[i].text(), .line = in_order[i]});
  }
  std::set<std::string> baselines;
  for (const Panel& panel : panels) {
    if (panel.without_dape == nullptr) continue;
    for (const auto& [label, scores] : *panel.without_dape) {
      const std::string name = baseline_name(label);
      if (baselines.insert(name).second)
        legend.push_back({.label = name, .line = baseline_style(styles.at(label))});
    }
  }
  const bool one_setting = effects.size() == 1;
  const bool only_rates = one_setting && effects.front().path == "learning_rate";
  const PanelGrid grid(
      panels.size(), std::move(legend),
      fmt::format("Score over a setting, all others equal: {} over the {} that all values share{}{}.",
                  aggregate_phrase(aggregate), only_rates ? "seeds" : "seeds and learning rates",
                  bands ? "; the band spans them" : "", baselines.empty() ? "" : "; dotted: without DAPE"),
      {.height = 326, .canvas_width = format.canvas_width()});

  std::string script = grid.begin(format, file);
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const Panel& panel = panels[p];
    script += grid.place(p, panel.task.text(), panel.path, "score (%)");
    // The horizontal axis can differ from panel to panel.
    if (!one_setting) script += fmt::format("set xlabel {} offset 0,0.6\n", gnuplot_string(panel.path));
    script += percent_axis('y', lowest_value(panel)) + value_axis(*panel.lines);
    std::vector<std::string> band_elements;
    std::vector<std::string> line_elements;
    for (const auto& [label, line] : *panel.lines) {
      const std::string data = fmt::format("$l{}", line_elements.size());
      script += data + " << EOD\n";
      bool band = false;
      for (const auto& [value, scores] : line) {
        const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
        script += fmt::format("{} {:.6g} {:.6g} {:.6g}\n", real_text(value),
                              100 * aggregate_of(scores, aggregate), 100 * *low, 100 * *high);
        band = band || scores.size() > 1;
      }
      script += "EOD\n";
      const LineStyle& style = styles.at(label);
      if (band) {
        band_elements.push_back(fmt::format("{} using 1:3:4 with {} title {}", data,
                                            band_text(style.colour, panel.lines->size()),
                                            gnuplot_string(label.text() + ", range")));
      }
      line_elements.push_back(fmt::format("{} with linespoints {} pt {} ps 0.9 title {}", data,
                                          line_text(style), style.marker, gnuplot_string(label.text())));
    }
    if (panel.without_dape != nullptr) {
      for (const auto& [label, scores] : *panel.without_dape) {
        line_elements.push_back(
            fmt::format("{:.6g} with lines {} title {}", 100 * aggregate_of(scores, aggregate),
                        line_text(baseline_style(styles.at(label))), gnuplot_string(baseline_name(label))));
      }
    }
    band_elements.insert(band_elements.end(), line_elements.begin(), line_elements.end());
    script += fmt::format("plot {}\n", fmt::join(band_elements, ", "));
  }
  return script + grid.end();
}

}  // namespace che
