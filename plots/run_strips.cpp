#include "plots/run_strips.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "plots/gnuplot/axis_marks.h"
#include "plots/gnuplot/gnuplot.h"
#include "plots/gnuplot/line_style.h"
#include "plots/gnuplot/panel_grid.h"
#include "plots/short_labels.h"

namespace che {
namespace {

constexpr double kStripHeight = 26;  // Pixels.
constexpr double kTwoLineHeight = 44;
constexpr double kAround = 116;      // Of a panel's height: title, axis and its label.
constexpr double kStripWidth = 0.6;  // Of the distance between two strips.
constexpr double kCharacter = 10.7;  // Pixels of one in a mark, on average.
constexpr std::size_t kMinMark = 5;  // Characters for which a panel has room anyway.

struct Strip {
  std::size_t column;  // Of the table.
  const TableCell* cell;
};

std::vector<Strip> strips_of(const ResultTable& table, const TableRow& row) {
  std::vector<Strip> strips;
  for (std::size_t i = 0; i < table.encodings.size(); ++i) {
    const TableCell* const cell = table.cell(row.task, table.encodings[i]);
    if (cell != nullptr && cell->scores) strips.push_back({.column = i, .cell = cell});
  }
  return strips;
}

// Runs of a strip stand below one another in the table's order.
double place(std::size_t column, std::size_t run, std::size_t runs) {
  const double share = (static_cast<double>(run) + 0.5) / static_cast<double>(runs) - 0.5;
  return static_cast<double>(column) + (runs > 1 ? kStripWidth * share : 0);
}

// Of everything that a panel shows, in percent.
double lowest_value(const TableRow& row, const std::vector<Strip>& strips) {
  double low = row.chance;
  for (const Strip& strip : strips) low = std::min(low, strip.cell->scores->min);
  return 100 * low;
}

std::string strip_data(const ResultTable& table, const Strip& strip) {
  std::string data = fmt::format("$s{} << EOD\n", strip.column);
  const std::vector<std::size_t>& runs = strip.cell->finished;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    data +=
        fmt::format("{:.6g} {:.4f}\n", 100 * *table.runs[runs[i]].score, place(strip.column, i, runs.size()));
  }
  const double median = 100 * strip.cell->scores->median;
  const double half = kStripWidth / 2 + 0.05;
  const auto middle = static_cast<double>(strip.column);
  return data + fmt::format("EOD\n$m{} << EOD\n{:.6g} {}\n{:.6g} {}\nEOD\n", strip.column, median,
                            middle - half, median, middle + half);
}

}  // namespace

std::string run_strips_script(const ResultTable& table, const FigureFormat& format,
                              const std::filesystem::path& file) {
  std::vector<const TableRow*> rows;
  for (const TableRow& row : table.rows) {
    if (!strips_of(table, row).empty()) rows.push_back(&row);
  }
  if (rows.empty()) throw Error("nothing to draw: no run has finished; run the experiment to its end");

  const std::vector<LineStyle> styles = line_styles(table.encodings);
  const auto count = static_cast<double>(table.encodings.size());
  std::size_t longest = kMinMark;
  std::vector<std::string> marks;
  std::vector<std::string> nameless;
  const std::vector<EncodingLabel> labels = short_labels(table.encodings);
  bool has_settings = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    // Settings stand below the name.
    const std::string name = labels[i].form.text();
    const std::string settings = labels[i].settings_text();
    longest = std::max({longest, name.size(), settings.size()});
    has_settings = has_settings || !settings.empty();
    marks.push_back(settings.empty()
                        ? fmt::format("{} {}", gnuplot_string(name), i)
                        : fmt::format(R"({}."\n".{} {})", gnuplot_string(name), gnuplot_string(settings), i));
    nameless.push_back(fmt::format("'' {}", i));
  }
  const double strip_height = has_settings ? kTwoLineHeight : kStripHeight;
  std::vector<LegendEntry> legend = {{.label = "chance", .line = chance_style()}};
  std::string caption =
      "One point per run, in each strip from top to bottom by learning rate, then seed; the bar is the "
      "median "
      "of two runs or more.";
  if (std::ranges::any_of(rows, [](const TableRow* row) { return shows_positions(*row); })) {
    legend.push_back({.label = "position only", .line = position_style()});
    caption += positions_caption();
  }
  const PanelGrid grid(rows.size(), std::move(legend), caption,
                       {.height = kAround + strip_height * count,
                        .left = kCharacter * static_cast<double>(longest - kMinMark),
                        .canvas_width = format.canvas_width(),
                        .min_width = 240});
  std::string script = grid.begin(format, file);
  for (std::size_t p = 0; p < rows.size(); ++p) {
    const TableRow& row = *rows[p];
    const std::vector<Strip> strips = strips_of(table, row);
    script += grid.place(p, row.task.text(), "score (%)", "");
    script += percent_axis('x', lowest_value(row, strips), grid.axis_width());
    script += fmt::format("set yrange [{}:-0.6]\nset grid ytics lc rgb '#E4E4E4' lt 1 lw 1\n", count - 0.4);
    script += fmt::format("set ytics nomirror scale 0 ({})\n",
                          fmt::join(grid.first_in_row(p) ? marks : nameless, ", "));
    const auto level = [&](std::string_view name, double score) {
      return fmt::format("${0} << EOD\n{1:.6g} -0.6\n{1:.6g} {2}\nEOD\n", name, 100 * score, count - 0.4);
    };
    script += level("chance", row.chance);
    std::vector<std::string> elements = {"$chance with lines " + line_text(chance_style()) +
                                         " title 'chance'"};
    if (shows_positions(row)) {
      script += level("position", row.baselines->position_only.score);
      elements.push_back("$position with lines " + line_text(position_style()) + " title 'position only'");
    }
    for (const Strip& strip : strips) {
      script += strip_data(table, strip);
      const std::string& colour = styles[strip.column].colour;
      const std::string label = table.encodings[strip.column].text();
      elements.push_back(fmt::format("$s{} with points pt 7 ps 0.8 lc rgb '{}' title {}", strip.column,
                                     colour, gnuplot_string(label + ", single runs")));
      // Of a single run it would hide the point.
      if (strip.cell->scores->n > 1) {
        elements.push_back(fmt::format("$m{} with lines lw 2 lc rgb '#333333' title {}", strip.column,
                                       gnuplot_string(label + ", median")));
      }
    }
    script += fmt::format("plot {}\n", fmt::join(elements, ", "));
  }
  return script + grid.end();
}

}  // namespace che
