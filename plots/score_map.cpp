#include "plots/score_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "experiments/analysis/paper_table.h"
#include "plots/gnuplot/caption.h"
#include "plots/gnuplot/gnuplot.h"
#include "plots/gnuplot/palette.h"

namespace che {
namespace {

// All sizes in pixels of the figure at full size.
constexpr double kCellWidth = 58;  // At least.
constexpr double kLine = 22;       // Of a label.
constexpr double kCellHeight = 30;
constexpr double kCharacter = 10.6;  // Width of one, on average.
constexpr double kGap = 46;          // Between the maps, and right of them.
constexpr double kScale = 18;        // Width of the scale of colours.
constexpr double kScaleLabels = 70;  // And of what stands next to it.
constexpr double kTop = 44;
constexpr double kMaxPageWidth = 1500;
constexpr int kFontSize = 14;
constexpr std::size_t kMaxLine = 30;  // Characters; settings go on in a further line.

// One map: of each task and encoding a fraction, where it has one.
struct Map {
  std::string title;
  std::vector<EncodingLabel> encodings;
  std::function<std::optional<double>(const TableRow&, const EncodingLabel&)> score;
};

// A name on an axis, in lines.
using Lines = std::vector<std::string>;

// The settings stand below the encoding.
Lines label_lines(const EncodingLabel& label) {
  Lines lines = {label.form.text()};
  if (label.settings.empty()) return lines;
  lines.emplace_back();
  std::istringstream words(label.settings_text());
  for (std::string word; words >> word;) {
    std::string& last = lines.back();
    if (last.empty()) {
      last = word;
    } else if (last.size() + 1 + word.size() <= kMaxLine) {
      last += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::vector<Lines> names_of(const std::vector<EncodingLabel>& encodings) {
  std::vector<Lines> names;
  names.reserve(encodings.size());
  for (const EncodingLabel& encoding : encodings) names.push_back(label_lines(encoding));
  return names;
}

std::size_t max_lines(const std::vector<Lines>& names) {
  std::size_t most = 0;
  for (const Lines& lines : names) most = std::max(most, lines.size());
  return most;
}

std::size_t max_line(const std::vector<Lines>& names) {
  std::size_t longest = 0;
  for (const Lines& lines : names) {
    for (const std::string& line : lines) longest = std::max(longest, line.size());
  }
  return longest;
}

std::string marks(const std::vector<Lines>& names) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<std::string> lines;
    for (const std::string& line : names[i]) lines.push_back(gnuplot_string(line));
    // A line break needs double quotes.
    texts.push_back(fmt::format("{} {}", fmt::join(lines, R"(."\n".)"), i));
  }
  return fmt::format("({})", fmt::join(texts, ", "));
}

std::vector<Map> maps_of(const ResultTable& table, Aggregate aggregate) {
  Map ours{.title = "ours", .encodings = {}, .score = {}};
  ours.score = [&table, aggregate](const TableRow& row,
                                   const EncodingLabel& encoding) -> std::optional<double> {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell == nullptr || !cell->scores) return std::nullopt;
    return cell->scores->value(aggregate);
  };
  Map papers{.title = "paper (DAPE, Table 2)", .encodings = {}, .score = {}};
  papers.score = [](const TableRow& row, const EncodingLabel& encoding) {
    return row.task.settings.empty() ? paper_score(row.task.name, encoding.form) : std::nullopt;
  };
  ours.encodings = table.encodings;
  // Of the paper's columns those that one of ours can be compared with.
  for (const PaperColumn& column : paper_columns()) {
    const bool compared = std::ranges::any_of(table.cells, [&](const auto& cell) {
      const auto& paper = cell.second.paper;
      return paper && paper->is_comparable() && paper->column == column.form;
    });
    if (compared) papers.encodings.push_back({.form = column.form});
  }
  std::vector<Map> maps;
  for (Map* const map : {&ours, &papers}) {
    std::erase_if(map->encodings, [&](const EncodingLabel& encoding) {
      return std::ranges::none_of(table.rows,
                                  [&](const TableRow& row) { return map->score(row, encoding).has_value(); });
    });
    if (!map->encodings.empty()) maps.push_back(std::move(*map));
  }
  return maps;
}

// From guessing, 0, to perfection, 1; worse than guessing is 0.
double way_from_chance(const TableRow& row, double score) {
  return std::clamp((score - row.chance) / (1 - row.chance), 0.0, 1.0);
}

// Colours below this are too dark for black text.
constexpr double kLight = 0.55;

// The lines of a script that draw one map's cells and numbers within margins that are set.
std::string map_plot(const ResultTable& table, const Map& map) {
  std::string cells;
  std::string dark;  // Numbers on dark and on light cells.
  std::string light;
  for (std::size_t y = 0; y < table.rows.size(); ++y) {
    for (std::size_t x = 0; x < map.encodings.size(); ++x) {
      const auto score = map.score(table.rows[y], map.encodings[x]);
      if (!score) {
        light += fmt::format("{} {} --\n", x, y);
        continue;
      }
      const double way = way_from_chance(table.rows[y], *score);
      cells += fmt::format("{} {} {:.4f}\n", x, y, way);
      (way < kLight ? dark : light) += fmt::format("{} {} {:.1f}\n", x, y, 100 * *score);
    }
  }
  std::string data = fmt::format("$cells << EOD\n{}EOD\n", cells);
  std::string plot = "plot $cells using 1:2:(0.48):(0.46):3 with boxxyerror fs solid noborder palette";
  const auto add_numbers = [&](const char* name, const std::string& numbers, const char* colour) {
    // gnuplot dies of labels that have no data.
    if (numbers.empty()) return;
    data += fmt::format("{} << EOD\n{}EOD\n", name, numbers);
    plot += fmt::format(", {} using 1:2:3 with labels textcolor rgb '{}'", name, colour);
  };
  add_numbers("$dark", dark, "white");
  add_numbers("$light", light, "black");
  return data + plot + "\n";
}

// Where everything stands on the canvas.
struct Layout {
  double cell_width;
  double left;        // Of the first map.
  double map_height;  // Without its title and marks.
  double map_block;   // With them.
  bool stacked;       // Maps that are too wide for a page stand one below the other.
  double width;

  Layout(const std::vector<Map>& maps, const std::vector<Lines>& tasks, const std::vector<Lines>& encodings)
      : cell_width(std::max(kCellWidth, 8 + kLine * static_cast<double>(max_lines(encodings)))),
        left(24 + kCharacter * static_cast<double>(max_line(tasks))),
        map_height(static_cast<double>(tasks.size()) * kCellHeight),
        map_block(kTop + map_height + 20 + kCharacter * static_cast<double>(max_line(encodings))) {
    double side_by_side = 0;
    double widest = 0;
    for (const Map& map : maps) {
      side_by_side += width_of(map) + (side_by_side > 0 ? kGap : 0);
      widest = std::max(widest, width_of(map));
    }
    constexpr double kRightOfMaps = kGap + kScale + kScaleLabels;
    stacked = left + side_by_side + kRightOfMaps > kMaxPageWidth;
    width = std::max(left + (stacked ? widest : side_by_side) + kRightOfMaps, 640.0);
  }

  double width_of(const Map& map) const { return static_cast<double>(map.encodings.size()) * cell_width; }
};

// The marks that a scale of colours of this height has room for.
const char* scale_marks(double height) {
  if (height >= 5 * kLine) return "0,0.25,1";
  return height >= 3 * kLine ? "0,0.5,1" : "0,1,1";
}

}  // namespace

std::string score_map_script(const ResultTable& table, Aggregate aggregate, std::string_view format,
                             const std::filesystem::path& file) {
  const bool measured =
      std::ranges::any_of(table.cells, [](const auto& entry) { return entry.second.scores.has_value(); });
  if (!measured) throw Error("nothing to draw: no run has finished; run the experiment to its end");
  const std::vector<Map> maps = maps_of(table, aggregate);
  std::vector<Lines> tasks;
  bool has_invariant = false;
  for (const TableRow& row : table.rows) {
    tasks.push_back({row.task.text() + (row.permutation_invariant ? kInvariantSign : "")});
    has_invariant = has_invariant || row.permutation_invariant;
  }
  const Layout layout(maps, tasks, names_of(table.encodings));
  const Caption caption(
      fmt::format("Score in percent: {} over seeds and learning rates of a cell. -- : no value. Colours show "
                  "the way from chance or less (0) to perfect (1).{}",
                  aggregate_phrase(aggregate),
                  has_invariant ? fmt::format(" {} : permutation-invariant.", kInvariantSign) : ""),
      layout.width);
  const double height =
      (layout.stacked ? static_cast<double>(maps.size()) : 1.0) * layout.map_block + caption.height();

  std::string script =
      gnuplot_output(format, file.string(), layout.width, height, kFontSize) + "set multiplot\n";
  script += kViridis;
  script += "set cbrange [0:1]\nunset key\nset border 0\n";
  script +=
      fmt::format("set cbtics nomirror out scale 0.5 offset -0.5,0 {}\n", scale_marks(layout.map_height));
  script += fmt::format("set yrange [{}:-0.5]\n", static_cast<double>(tasks.size()) - 0.5);
  script += caption.script(height);
  double from = layout.left;
  double top = kTop;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const Map& map = maps[i];
    const double to = from + layout.width_of(map);
    const double bottom = 1 - (top + layout.map_height) / height;
    script += fmt::format(
        "set lmargin at screen {}\nset rmargin at screen {}\nset tmargin at screen {}\nset bmargin at screen "
        "{}\n",
        from / layout.width, to / layout.width, 1 - top / height, bottom);
    script += fmt::format("set title {}\n", gnuplot_string(map.title));
    script += fmt::format("set xrange [-0.5:{}]\n", static_cast<double>(map.encodings.size()) - 0.5);
    script += fmt::format("set xtics scale 0 rotate by 90 right offset 0,-0.3 {}\n",
                          marks(names_of(map.encodings)));
    // Maps in a row share the tasks' names on the left and the scale on the right.
    const bool names_tasks = i == 0 || layout.stacked;
    const bool has_scale = i + 1 == maps.size() || layout.stacked;
    script += names_tasks ? fmt::format("set ytics scale 0 {}\n", marks(tasks)) : "unset ytics\n";
    script += has_scale ? fmt::format(
                              "set colorbox vertical user origin screen {}, screen {} size screen {}, "
                              "screen {}\n",
                              (to + kGap / 2) / layout.width, bottom, kScale / layout.width,
                              layout.map_height / height)
                        : "unset colorbox\n";
    script += map_plot(table, map) + "unset label\n";
    if (layout.stacked) {
      top += layout.map_block;
    } else {
      from = to + kGap;
    }
  }
  return script + "unset multiplot\nset output\n";
}

}  // namespace che
