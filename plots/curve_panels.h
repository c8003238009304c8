#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plots/cell_curve.h"
#include "plots/gnuplot/line_style.h"
#include "plots/gnuplot/panel_grid.h"

namespace che {

// A panel with a curve for each of some encodings.
struct CurvePanel {
  struct Entry {
    std::size_t column;  // Of the table.
    CellCurve curve;
  };

  const TableRow* row;
  std::vector<Entry> entries;

  bool has_band() const;
  std::size_t largest_group() const;
};

// A panel for each task that has a curve. Throws Error (usage) when none has; `measured` names what the
// finished runs lack then.
std::vector<CurvePanel> curve_panels(const ResultTable& table, Aggregate aggregate,
                                     const Measurements& measurements, const std::string& measured);

// What lines and bands of all panels are, a sentence for a caption; `measured` as above.
std::string curve_caption(const std::vector<CurvePanel>& panels, Aggregate aggregate,
                          const std::string& measured);

// The encodings that some panel has a curve of.
std::vector<LegendEntry> curve_legend(const ResultTable& table, const std::vector<CurvePanel>& panels,
                                      const std::vector<LineStyle>& styles);

// Data blocks of all panels: x, y, low, high per line, and x, y of the markers.
std::string curve_data(const std::vector<CurvePanel>& panels);

// The elements of a plot command that draw one panel's bands, lines and markers, separated by commas.
// `styles` and `labels` are those of the table's columns.
std::string curve_elements(const CurvePanel& panel, std::size_t index, const std::vector<LineStyle>& styles,
                           const std::vector<EncodingLabel>& labels);

}  // namespace che
