#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plots/gnuplot/caption.h"
#include "plots/gnuplot/figure_format.h"
#include "plots/gnuplot/line_style.h"

namespace che {

// An entry of a legend: a line, or a shaded area.
struct LegendEntry {
  std::string label;
  std::optional<LineStyle> line;
};

// The colour of shaded areas.
inline constexpr const char* kShade = "#E4E4E4";

// Sizes of a figure's panels, in pixels.
struct PanelShape {
  double height = 290;
  double left = 0;  // Room left of the first column, for long marks of its vertical axis.
  // Of the whole, on paper; 0 for a screen. As many panels stand in a row as have their least width.
  double canvas_width = 0;
  double min_width = 290;
};

// A gnuplot script's canvas: a legend above, up to three panels per row, a caption below. Everything is
// placed by pixel, since gnuplot's own key and margins guess widths and overflow.
class PanelGrid {
 public:
  PanelGrid(std::size_t panels, std::vector<LegendEntry> legend, const std::string& caption,
            PanelShape shape = {});

  // Opens `file` and draws legend and caption.
  std::string begin(const FigureFormat& format, const std::filesystem::path& file) const;
  // Sets margins and title of a panel; those in the first column get the label of the vertical axis,
  // those that are last in theirs that of the horizontal one.
  std::string place(std::size_t panel, const std::string& title, const std::string& horizontal,
                    const std::string& vertical) const;
  std::string end() const;

  // Of a panel's horizontal axis, in pixels.
  double axis_width() const;
  bool first_in_row(std::size_t panel) const { return panel % columns_ == 0; }

 private:
  double x(double pixels) const { return pixels / width_; }
  double y_from_top(double pixels) const { return 1 - pixels / height_; }
  bool last_in_column(std::size_t panel) const { return panel + columns_ >= panels_; }
  std::string legend_script() const;

  std::size_t panels_;
  PanelShape shape_;
  std::vector<LegendEntry> legend_;
  std::size_t columns_;
  double panel_width_;
  std::size_t legend_columns_ = 1;
  double legend_entry_ = 0;  // Width of one.
  double legend_height_ = 0;
  double width_;
  Caption caption_;
  double height_ = 0;
};

// What a plot says of a band of this colour, one of `bands` in its panel: the more, the fainter.
std::string band_text(const std::string& colour, std::size_t bands);

// "lc rgb '#0072B2' lw 2 dt solid"
std::string line_text(const LineStyle& style);

// What a plot says of a curve with so many points: lines, or a marker for a single point.
std::string curve_text(const LineStyle& style, std::size_t points);

// And of the markers that stand on it.
std::string marker_text(const LineStyle& style);

}  // namespace che
