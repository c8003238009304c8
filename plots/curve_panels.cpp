#include "plots/curve_panels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"

namespace che {
namespace {

std::string data_name(std::size_t panel, std::size_t entry) { return fmt::format("$p{}c{}", panel, entry); }

bool has_band(const CellCurve& curve) { return curve.runs > 1 && curve.points.size() > 1; }

}  // namespace

std::size_t CurvePanel::most_runs() const {
  std::size_t most = 0;
  for (const Entry& entry : entries) most = std::max(most, entry.curve.runs);
  return most;
}

std::size_t CurvePanel::largest_group() const {
  std::size_t largest = 1;
  for (const Entry& entry : entries) largest = std::max(largest, entry.curve.group);
  return largest;
}

std::vector<CurvePanel> curve_panels(const ResultTable& table, Aggregate aggregate,
                                     const Measurements& measurements) {
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
  if (panels.empty()) throw Error("nothing to draw: no run has finished; run the experiment to its end");
  return panels;
}

std::size_t most_runs(const std::vector<CurvePanel>& panels) {
  std::size_t most = 0;
  for (const CurvePanel& panel : panels) most = std::max(most, panel.most_runs());
  return most;
}

std::size_t largest_group(const std::vector<CurvePanel>& panels) {
  std::size_t largest = 1;
  for (const CurvePanel& panel : panels) largest = std::max(largest, panel.largest_group());
  return largest;
}

std::vector<LegendEntry> curve_legend(const ResultTable& table, const std::vector<CurvePanel>& panels,
                                      const std::vector<LineStyle>& styles) {
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < styles.size(); ++i) {
    const bool shown = std::ranges::any_of(panels, [&](const CurvePanel& panel) {
      return std::ranges::any_of(panel.entries,
                                 [&](const CurvePanel::Entry& entry) { return entry.column == i; });
    });
    if (shown) legend.push_back({.label = table.encodings[i], .line = styles[i]});
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
    }
  }
  return script;
}

std::string curve_elements(const CurvePanel& panel, std::size_t index, const std::vector<LineStyle>& styles) {
  std::vector<std::string> elements;
  const auto bands = static_cast<std::size_t>(std::ranges::count_if(
      panel.entries, [](const CurvePanel::Entry& entry) { return has_band(entry.curve); }));
  // Bands lie below all lines.
  for (std::size_t c = 0; c < panel.entries.size(); ++c) {
    if (!has_band(panel.entries[c].curve)) continue;
    elements.push_back(fmt::format("{} using 1:3:4 with {}", data_name(index, c),
                                   band_text(styles[panel.entries[c].column].colour, bands)));
  }
  for (std::size_t c = 0; c < panel.entries.size(); ++c) {
    const CurvePanel::Entry& entry = panel.entries[c];
    elements.push_back(fmt::format("{} with {}", data_name(index, c),
                                   curve_text(styles[entry.column], entry.curve.points.size())));
  }
  return fmt::format("{}", fmt::join(elements, ", "));
}

}  // namespace che
