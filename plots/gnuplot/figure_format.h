#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace che {

// How a figure is drawn: the kind of file, and for paper the width at which a reader sees it.
struct FigureFormat {
  std::string kind;     // One of figure_formats().
  double width_mm = 0;  // 0 for the size of a screen.

  FigureFormat(const char* kind_of_file) : kind(kind_of_file) {}  // NOLINT(google-explicit-constructor)
  FigureFormat(std::string kind_of_file, double millimetres)
      : kind(std::move(kind_of_file)), width_mm(millimetres) {}

  // Layouts are in pixels; a canvas of this many at paper width has text of 13 to 15 pixels in 7.2 to 8.3
  // points. 0 for the size of a screen.
  double canvas_width() const { return width_mm / 25.4 * 72 * kPixelsPerPoint; }

  static constexpr double kPixelsPerPoint = 1.8;
};

// What a paper's width may be.
inline constexpr double kMinWidth = 60;
inline constexpr double kMaxWidth = 400;

}  // namespace che
