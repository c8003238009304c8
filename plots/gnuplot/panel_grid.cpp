#include "plots/gnuplot/panel_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "plots/gnuplot/gnuplot.h"

namespace che {
namespace {

// All sizes in pixels of the figure at full size; text stays legible at half of it.
constexpr double kPanelWidth = 430;       // On a screen; on paper at most.
constexpr double kTitleCharacter = 10.6;  // Width of one in a title, on average.
constexpr int kLeft = 82;                 // From a panel's edge to its axis.
constexpr int kLabelMiddle = 16;          // To the middle of the vertical axis' label.
constexpr int kRight = 26;
constexpr int kTop = 36;
constexpr int kBottom = 64;
constexpr int kFontSize = 15;
constexpr int kLegendLine = 26;
constexpr int kLegendSample = 44;    // Length of a line in the legend.
constexpr int kLegendGap = 10;       // Between the line and its label.
constexpr int kLegendSpace = 34;     // Between two entries.
constexpr double kCharacter = 11.4;  // Width of one in the legend, on average.

// Three columns keep a page's proportions. Rows are equally full, as far as they can be.
std::size_t columns_of(std::size_t panels, const PanelShape& shape) {
  const double room = shape.canvas_width > 0 ? (shape.canvas_width - shape.left) / shape.min_width : 3;
  const auto fitting = static_cast<std::size_t>(std::clamp(room, 1.0, 3.0));
  const std::size_t rows = std::max<std::size_t>((panels + fitting - 1) / fitting, 1);
  return std::max<std::size_t>((panels + rows - 1) / rows, 1);
}

}  // namespace

PanelGrid::PanelGrid(std::size_t panels, std::vector<LegendEntry> legend, const std::string& caption,
                     PanelShape shape)
    : panels_(panels),
      shape_(shape),
      legend_(std::move(legend)),
      columns_(columns_of(panels, shape)),
      panel_width_(shape.canvas_width > 0 ? std::min(kPanelWidth, (shape.canvas_width - shape.left) /
                                                                      static_cast<double>(columns_))
                                          : kPanelWidth),
      // Even one panel leaves room for legend and caption.
      width_(shape.canvas_width > 0
                 ? shape.canvas_width
                 : shape.left + static_cast<double>(std::max<std::size_t>(columns_, 2)) * kPanelWidth),
      caption_(caption, width_) {
  if (!legend_.empty()) {
    // gnuplot leaves out what lies beyond the canvas: a label that is wider is cut.
    const auto most =
        static_cast<std::size_t>(std::max(3.0, (width_ - kLegendSample - kLegendGap) / kCharacter));
    std::size_t longest = 0;
    for (LegendEntry& entry : legend_) {
      // Its settings stand at the end.
      if (entry.label.size() > most) {
        const std::size_t end = most / 2;
        entry.label =
            entry.label.substr(0, most - end - 1) + "…" + entry.label.substr(entry.label.size() - end);
      }
      longest = std::max(longest, std::min(entry.label.size(), most));
    }
    legend_entry_ = kLegendSample + kLegendGap + kLegendSpace + kCharacter * static_cast<double>(longest);
    const std::size_t entries = legend_.size();
    const std::size_t fitting =
        std::clamp<std::size_t>(static_cast<std::size_t>(width_ / legend_entry_), 1, entries);
    const std::size_t rows = (entries + fitting - 1) / fitting;
    legend_columns_ = (entries + rows - 1) / rows;
    legend_height_ = static_cast<double>(rows * kLegendLine + 16);
  }
  const std::size_t rows = (panels_ + columns_ - 1) / columns_;
  height_ = legend_height_ + static_cast<double>(rows) * shape_.height + caption_.height();
}

std::string PanelGrid::legend_script() const {
  std::string script;
  const double start = (width_ - static_cast<double>(legend_columns_) * legend_entry_ + kLegendSpace) / 2;
  for (std::size_t i = 0; i < legend_.size(); ++i) {
    const LegendEntry& entry = legend_[i];
    const std::size_t row = i / legend_columns_;
    const double left = start + static_cast<double>(i % legend_columns_) * legend_entry_;
    const double middle = 10 + (static_cast<double>(row) + 0.5) * kLegendLine;
    const double y = y_from_top(middle);
    if (!entry.line) {
      script += fmt::format(
          "set object {} rectangle from screen {}, screen {} to screen {}, screen {} fc rgb '{}' fs solid "
          "noborder\n",
          i + 1, x(left), y_from_top(middle + 8), x(left + kLegendSample), y_from_top(middle - 8), kShade);
    } else {
      // Of neighbours that differ only in their dashes, gnuplot's SVG draws both like the first.
      LineStyle line = *entry.line;
      line.width += i % 2 == 0 ? 0 : 0.01;
      script += fmt::format("set arrow from screen {}, screen {} to screen {}, screen {} nohead {}\n",
                            x(left), y, x(left + kLegendSample), y, line_text(line));
      if (entry.line->marker > 0) {
        script += fmt::format("set label '' at screen {}, screen {} point pt {} ps 1 lc rgb '{}'\n",
                              x(left + kLegendSample / 2.0), y, entry.line->marker, entry.line->colour);
      }
    }
    script += fmt::format("set label {} at screen {}, screen {} left\n", gnuplot_string(entry.label),
                          x(left + kLegendSample + kLegendGap), y);
  }
  return script;
}

std::string PanelGrid::begin(const FigureFormat& format, const std::filesystem::path& file) const {
  std::string script = gnuplot_output(format, file.string(), width_, height_, kFontSize) + "set multiplot\n";
  script += legend_script() + caption_.script(height_);
  script += "unset border\nunset tics\nunset key\nset xrange [0:1]\nset yrange [0:1]\nplot NaN notitle\n";
  script += "unset label\nunset arrow\nunset object\nset border 3 lw 1.2\n";
  return script;
}

std::string PanelGrid::place(std::size_t panel, const std::string& title, const std::string& horizontal,
                             const std::string& vertical) const {
  const std::size_t column = panel % columns_;
  const std::size_t row = panel / columns_;
  // Fewer panels than the canvas is wide stand in its middle.
  const double left = shape_.left + static_cast<double>(column) * panel_width_ +
                      (width_ - shape_.left - static_cast<double>(columns_) * panel_width_) / 2;
  const double top = legend_height_ + static_cast<double>(row) * shape_.height;
  std::string script = fmt::format(
      "set lmargin at screen {}\nset rmargin at screen {}\nset tmargin at screen {}\nset bmargin at screen "
      "{}\n",
      x(left + kLeft), x(left + panel_width_ - kRight), y_from_top(top + kTop),
      y_from_top(top + shape_.height - kBottom));
  // A title that is wider than its axis ends at the panel's right edge.
  const bool is_wide = kTitleCharacter * static_cast<double>(title.size()) > axis_width() + 2 * kRight;
  script += fmt::format("set title {} offset 0,-0.5\nunset label 2\n", gnuplot_string(is_wide ? "" : title));
  if (is_wide) {
    script += fmt::format("set label 2 {} at screen {}, screen {} right\n", gnuplot_string(title),
                          x(left + panel_width_ - kRight / 2.0), y_from_top(top + kTop / 2.0));
  }
  script +=
      fmt::format("set xlabel {} offset 0,0.6\n", gnuplot_string(last_in_column(panel) ? horizontal : ""));
  script += "unset label 1\n";
  if (first_in_row(panel)) {
    script += fmt::format("set label 1 {} at screen {}, graph 0.5 center rotate\n", gnuplot_string(vertical),
                          x(left - shape_.left + kLabelMiddle));
  }
  return script;
}

double PanelGrid::axis_width() const { return panel_width_ - kLeft - kRight; }

std::string PanelGrid::end() const { return "unset multiplot\nset output\n"; }

std::string band_text(const std::string& colour, std::size_t bands) {
  const double opacity = std::clamp(0.6 / static_cast<double>(bands), 0.06, 0.15);
  return fmt::format("filledcurves fc rgb '{}' fs transparent solid {:.2f} noborder", colour, opacity);
}

std::string line_text(const LineStyle& style) {
  return fmt::format("lc rgb '{}' lw {} dt {}", style.colour, style.width, style.dashes);
}

std::string curve_text(const LineStyle& style, std::size_t points) {
  if (points > 1) return "lines " + line_text(style);
  return fmt::format("points lc rgb '{}' pt {} ps 1.2", style.colour, style.marker > 0 ? style.marker : 2);
}

std::string marker_text(const LineStyle& style) {
  return fmt::format("points lc rgb '{}' pt {} ps 0.9", style.colour, style.marker);
}

}  // namespace che
