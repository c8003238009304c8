#include "plots/accuracy_over_length.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "plots/axis_marks.h"
#include "plots/figure_files.h"
#include "plots/gnuplot.h"
#include "plots/line_style.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// All sizes in pixels of the figure at full size; text stays legible at half of it.
constexpr int kPanelWidth = 430;
constexpr int kPanelHeight = 290;
constexpr int kLeft = 82;         // From a panel's edge to its axis.
constexpr int kLabelMiddle = 16;  // To the middle of the vertical axis' label.
constexpr int kRight = 26;
constexpr int kTop = 36;
constexpr int kBottom = 64;
constexpr int kCaption = 34;  // Below the panels.
constexpr int kFontSize = 15;
constexpr int kLegendLine = 26;
constexpr int kLegendSample = 44;   // Length of a line in the legend.
constexpr int kLegendGap = 10;      // Between the line and its label.
constexpr int kLegendSpace = 34;    // Between two entries.
constexpr double kCharacter = 9.8;  // Width of one in the legend, on average.

// More points than this are averaged in groups: a line of hundreds hides its dashes in noise.
constexpr std::size_t kMostPoints = 100;

struct Curve {
  std::size_t column;  // Of the table.
  const TableRun* run;
};

struct Panel {
  const TableRow* row;
  std::vector<Curve> curves;
};

std::vector<Panel> panels_of(const ResultTable& table) {
  std::vector<Panel> panels;
  for (const TableRow& row : table.rows) {
    Panel panel{.row = &row, .curves = {}};
    for (std::size_t i = 0; i < table.encodings.size(); ++i) {
      const TableCell* cell = table.cell(row.task, table.encodings[i]);
      if (cell != nullptr && cell->scores) panel.curves.push_back({i, &table.runs[cell->best]});
    }
    if (!panel.curves.empty()) panels.push_back(std::move(panel));
  }
  if (panels.empty()) throw Error("nothing to draw: no run has finished; run the experiment to its end");
  return panels;
}

// Where everything stands on the canvas.
struct Layout {
  int columns;
  int rows;
  int legend_columns;
  int legend_height;
  double legend_entry;  // Width of one.
  int width;
  int height;

  Layout(std::size_t panels, const std::vector<std::string>& legend) {
    const int count = static_cast<int>(panels);
    // Three columns keep a page's proportions, and even one panel leaves room for legend and caption.
    columns = std::min(count, 3);
    rows = (count + columns - 1) / columns;
    width = std::max(columns, 2) * kPanelWidth;
    std::size_t longest = 0;
    for (const std::string& label : legend) longest = std::max(longest, label.size());
    legend_entry = kLegendSample + kLegendGap + kLegendSpace + kCharacter * static_cast<double>(longest);
    const int entries = static_cast<int>(legend.size());
    const int fitting = std::clamp(static_cast<int>(width / legend_entry), 1, entries);
    const int legend_rows = (entries + fitting - 1) / fitting;
    legend_columns = (entries + legend_rows - 1) / legend_rows;
    legend_height = legend_rows * kLegendLine + 16;
    height = legend_height + rows * kPanelHeight + kCaption;
  }

  double x(double pixels) const { return pixels / width; }
  double y_from_top(double pixels) const { return 1 - pixels / height; }
};

// Neighbouring lengths that one point stands for; even, because tasks treat odd and even lengths
// differently.
std::size_t group_size(std::size_t lengths) {
  if (lengths <= kMostPoints) return 1;
  return (lengths / (kMostPoints / 2) + 1) / 2 * 2;
}

struct Point {
  double length;
  double accuracy;  // Percent.
};

std::vector<Point> points_of(const Curve& curve) {
  const std::vector<EvaluationRow>& rows = curve.run->evaluation;
  const std::size_t group = group_size(rows.size());
  std::vector<Point> points;
  for (std::size_t first = 0; first < rows.size(); first += group) {
    const std::size_t end = std::min(first + group, rows.size());
    Point point{0, 0};
    for (std::size_t i = first; i < end; ++i) {
      point.length += static_cast<double>(rows[i].length);
      point.accuracy += 100 * rows[i].accuracy;
    }
    const auto count = static_cast<double>(end - first);
    points.push_back({point.length / count, point.accuracy / count});
  }
  return points;
}

std::string data_name(std::size_t panel, std::size_t curve) { return fmt::format("$p{}c{}", panel, curve); }

void append_data(std::string& script, const std::vector<Panel>& panels) {
  for (std::size_t p = 0; p < panels.size(); ++p) {
    for (std::size_t c = 0; c < panels[p].curves.size(); ++c) {
      script += data_name(p, c) + " << EOD\n";
      for (const Point& point : points_of(panels[p].curves[c])) {
        script += fmt::format("{:.6g} {:.6g}\n", point.length, point.accuracy);
      }
      script += "EOD\n";
    }
  }
}

std::string line_text(const LineStyle& style) {
  return fmt::format("lc rgb '{}' lw {} dt {}", style.colour, style.width, style.dashes);
}

std::string curve_style(const LineStyle& style, std::size_t points) {
  // A single test length has no line to draw.
  if (points == 1) {
    return fmt::format("points lc rgb '{}' pt {} ps 1.2", style.colour, style.marker > 0 ? style.marker : 2);
  }
  if (style.marker == 0) return "lines " + line_text(style);
  // A dozen markers a line.
  return fmt::format("linespoints {} pt {} ps 1 pi {}", line_text(style), style.marker,
                     std::max<std::size_t>(points / 12, 1));
}

constexpr const char* kShade = "#E4E4E4";
const LineStyle kChanceStyle{.colour = "#444444", .dashes = "(2,5)", .width = 2, .marker = 0};
constexpr const char* kTrainingLabel = "training lengths";
constexpr const char* kChanceLabel = "chance";

std::string caption(const std::vector<Panel>& panels) {
  std::size_t group = 1;
  for (const Panel& panel : panels) {
    for (const Curve& curve : panel.curves) group = std::max(group, group_size(curve.run->evaluation.size()));
  }
  const std::string points =
      group == 1 ? "" : fmt::format(", each point the mean over {} neighbouring test lengths", group);
  return fmt::format("Of every cell the run with the best score{}.", points);
}

// gnuplot's own key guesses widths and overflows; this one is drawn entry by entry, row by row.
void append_legend(std::string& script, const Layout& layout, const std::vector<std::string>& legend,
                   const std::vector<LineStyle>& styles, const std::string& note) {
  const double start = (layout.width - layout.legend_columns * layout.legend_entry + kLegendSpace) / 2;
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const int row = static_cast<int>(i) / layout.legend_columns;
    const int column = static_cast<int>(i) % layout.legend_columns;
    const double left = start + column * layout.legend_entry;
    const double middle = 10 + (row + 0.5) * kLegendLine;
    const double y = layout.y_from_top(middle);
    if (legend[i] == kTrainingLabel) {
      script += fmt::format(
          "set object {} rectangle from screen {}, screen {} to screen {}, screen {} fc rgb '{}' fs solid "
          "noborder\n",
          i + 1, layout.x(left), layout.y_from_top(middle + 8), layout.x(left + kLegendSample),
          layout.y_from_top(middle - 8), kShade);
    } else {
      const LineStyle& style = i < styles.size() ? styles[i] : kChanceStyle;
      script += fmt::format("set arrow from screen {}, screen {} to screen {}, screen {} nohead {}\n",
                            layout.x(left), y, layout.x(left + kLegendSample), y, line_text(style));
      if (style.marker > 0) {
        script += fmt::format("set label '' at screen {}, screen {} point pt {} ps 1 lc rgb '{}'\n",
                              layout.x(left + kLegendSample / 2.0), y, style.marker, style.colour);
      }
    }
    script += fmt::format("set label {} at screen {}, screen {} left\n", gnuplot_string(legend[i]),
                          layout.x(left + kLegendSample + kLegendGap), y);
  }
  script += fmt::format("set label {} at screen 0.5, screen {} center font ',{}'\n", gnuplot_string(note),
                        layout.y_from_top(layout.height - kCaption / 2.0), kFontSize - 2);
  script += "unset border\nunset tics\nunset key\nset xrange [0:1]\nset yrange [0:1]\nplot NaN\n";
  script += "unset label\nunset arrow\nunset object\nset border 3 lw 1.2\n";
}

// The ten below everything that the panel shows.
double lowest_mark(const Panel& panel) {
  double low = panel.row->chance ? 100 * *panel.row->chance : 100;
  for (const Curve& curve : panel.curves) {
    for (const EvaluationRow& row : curve.run->evaluation) {
      low = std::min(low, 100 * row.accuracy);
    }
  }
  return std::max(0.0, std::floor((low - 4) / 10) * 10);
}

void append_panel(std::string& script, const Layout& layout, const Panel& panel, std::size_t index,
                  std::size_t count, const std::vector<LineStyle>& styles) {
  const int column = static_cast<int>(index) % layout.columns;
  const int row = static_cast<int>(index) / layout.columns;
  const bool last_in_column = index + static_cast<std::size_t>(layout.columns) >= count;
  // Fewer panels than the canvas is wide stand in its middle.
  const double left = column * kPanelWidth + (layout.width - layout.columns * kPanelWidth) / 2.0;
  const double top = layout.legend_height + row * kPanelHeight;
  std::int64_t first_trained = panel.curves.front().run->config.training.first_length;
  std::int64_t last_trained = 0;
  std::int64_t last_length = 1;
  for (const Curve& curve : panel.curves) {
    const RunConfig& config = curve.run->config;
    first_trained = std::min(first_trained, config.training.first_length);
    last_trained = std::max(last_trained, config.training.last_length);
    last_length = std::max({last_length, config.training.last_length, curve.run->evaluation.back().length});
  }
  const double low = lowest_mark(panel);
  script += fmt::format(
      "set lmargin at screen {}\nset rmargin at screen {}\nset tmargin at screen {}\nset bmargin at screen "
      "{}\n",
      layout.x(left + kLeft), layout.x(left + kPanelWidth - kRight), layout.y_from_top(top + kTop),
      layout.y_from_top(top + kPanelHeight - kBottom));
  script += fmt::format("set title {} offset 0,-0.5\n", gnuplot_string(panel.row->task));
  script += fmt::format("set xlabel '{}' offset 0,0.6\n", last_in_column ? "length" : "");
  if (column == 0) {
    script += fmt::format("set label 1 'accuracy (%)' at screen {}, graph 0.5 center rotate\n",
                          layout.x(left + kLabelMiddle));
  }
  // A line at 100 % keeps its full width.
  script += fmt::format("set xrange [1:{}]\nset yrange [{}:101]\n", last_length, low);
  const double step = std::max(1.0, mark_step(static_cast<double>(last_length), 5));
  // The axis begins at 1, where a multiple of the step would be 0.
  script +=
      fmt::format("set xtics nomirror out scale 0.6 offset 0,0.3 {},{}\nset xtics add (1)\n", step, step);
  script += fmt::format("set ytics nomirror out scale 0.6 offset 0.4,0 0,{},100\n", low < 40 ? 20 : 10);
  script += fmt::format(
      "set object 1 rectangle from first {}, graph 0 to first {}, graph 1 behind fc rgb '{}' fs solid "
      "noborder\n",
      first_trained, last_trained, kShade);
  script += "plot";
  if (panel.row->chance)
    script += fmt::format(" {} with lines {},", 100 * *panel.row->chance, line_text(kChanceStyle));
  for (std::size_t c = 0; c < panel.curves.size(); ++c) {
    script += fmt::format("{} {} with {}", c > 0 ? "," : "", data_name(index, c),
                          curve_style(styles[panel.curves[c].column], points_of(panel.curves[c]).size()));
  }
  script += "\nunset object 1\nunset label 1\n";
}

}  // namespace

std::string accuracy_over_length_script(const ResultTable& table, std::string_view terminal,
                                        const fs::path& file) {
  const std::vector<Panel> panels = panels_of(table);
  const std::vector<LineStyle> styles = line_styles(table.encodings);
  std::vector<std::string> legend = table.encodings;
  legend.insert(legend.end(), {kChanceLabel, kTrainingLabel});
  const Layout layout(panels.size(), legend);

  std::string script;
  append_data(script, panels);
  script +=
      fmt::format("set terminal {} noenhanced size {},{} font 'DejaVu Sans,{}' background rgb 'white'\n",
                  terminal, layout.width, layout.height, kFontSize);
  script += fmt::format("set output {}\nset encoding utf8\nset multiplot\n", gnuplot_string(file.string()));
  append_legend(script, layout, legend, styles, caption(panels));
  for (std::size_t i = 0; i < panels.size(); ++i)
    append_panel(script, layout, panels[i], i, panels.size(), styles);
  script += "unset multiplot\nset output\n";
  return script;
}

void plot_accuracy_over_length(const ResultTable& table, const fs::path& folder) {
  draw_figure(folder, "accuracy", [&](std::string_view terminal, const fs::path& file) {
    return accuracy_over_length_script(table, terminal, file);
  });
}

}  // namespace che
