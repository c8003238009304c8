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
#include "experiments/results/training_outcome.h"
#include "plots/gnuplot/caption.h"
#include "plots/gnuplot/gnuplot.h"
#include "plots/gnuplot/palette.h"
#include "plots/score_map_columns.h"

namespace che {
namespace {

// All sizes in pixels of the figure at full size.
constexpr double kCellWidth = 58;    // At least.
constexpr double kMaxStretch = 1.5;  // Of cells, for the titles above them.
constexpr double kLine = 22;         // Of a label.
constexpr double kCellHeight = 30;
constexpr double kCharacter = 10.4;   // Width of one, on average.
constexpr double kGap = 24;           // Between the maps, and right of them.
constexpr double kMinCellWidth = 30;  // Where cells have room for whole percents only.
constexpr double kDecimals = 44;      // Width of a cell from which numbers have a decimal.
constexpr double kScale = 14;         // Height of the scale of colours.
constexpr double kScaleBlock = 74;    // With its marks and its title.
constexpr double kScaleWidth = 320;   // At most.
constexpr double kTitle = 42;         // From a map to the first line of its title.
constexpr double kMarks = 36;         // From a map to the end of its marks, next to their characters.
constexpr double kTop = 72;           // For a title of two lines.
constexpr double kMaxPageWidth = 1500;
constexpr int kFontSize = 14;
constexpr int kSignSize = 9;
constexpr std::size_t kMaxLine = 30;  // Characters; settings go on in a further line.

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

// `place` says where each stands.
template <class Place>
std::string marks(const std::vector<Lines>& names, Place place) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<std::string> lines;
    for (const std::string& line : names[i]) lines.push_back(gnuplot_string(line));
    // A line break needs double quotes.
    texts.push_back(fmt::format("{} {}", fmt::join(lines, R"(."\n".)"), place(i)));
  }
  return fmt::format("({})", fmt::join(texts, ", "));
}

// From guessing, 0, to perfection, 1; worse than guessing is 0.
double way_from_chance(const TableRow& row, double score) {
  if (row.chance >= 1) return score >= 1 ? 1 : 0;
  return std::clamp((score - row.chance) / (1 - row.chance), 0.0, 1.0);
}

// Colours below this are too dark for black text.
constexpr double kLight = 0.55;

// "75.1", or where it does not fit "75". The widest number, 100, needs no decimal.
std::string cell_text(double score, bool has_decimals) {
  const std::string text = fmt::format("{:.{}f}", 100 * score, has_decimals ? 1 : 0);
  return text == "100.0" ? "100" : text;
}

// The lines of a script that draw one map's cells and numbers within margins that are set.
std::string map_plot(const ResultTable& table, const ScoreMap& map, bool has_decimals) {
  std::string cells;
  std::string dark;  // Numbers on dark and on light cells.
  std::string light;
  std::string dark_signs;  // Of cells that did not train, in their upper right corners.
  std::string light_signs;
  for (std::size_t y = 0; y < table.rows.size(); ++y) {
    for (std::size_t x = 0; x < map.encodings.size(); ++x) {
      const auto cell = map.cell(table.rows[y], map.encodings[x]);
      const std::size_t place = map.place(x);
      if (!cell) {
        light += fmt::format("{} {} --\n", place, y);
        continue;
      }
      const double way = way_from_chance(table.rows[y], cell->score);
      cells += fmt::format("{} {} {:.4f}\n", place, y, way);
      (way < kLight ? dark : light) +=
          fmt::format("{} {} {}\n", place, y, cell_text(cell->score, has_decimals));
      if (!cell->did_not_train) continue;
      (way < kLight ? dark_signs : light_signs) +=
          fmt::format("{:.2f} {:.2f} {}\n", static_cast<double>(place) + 0.38, static_cast<double>(y) - 0.22,
                      kUntrainedSign);
    }
  }
  std::string data = fmt::format("$cells << EOD\n{}EOD\n", cells);
  std::string plot =
      fmt::format("plot $cells using 1:2:(0.48):(0.46):3 with boxxyerror fs solid noborder palette title {}",
                  gnuplot_string(fmt::format("{}", fmt::join(map.title, ", "))));
  const auto add_texts = [&](const char* name, const std::string& numbers, const char* colour,
                             const char* title, int size) {
    // gnuplot dies of labels that have no data.
    if (numbers.empty()) return;
    data += fmt::format("{} << EOD\n{}EOD\n", name, numbers);
    plot += fmt::format(", {} using 1:2:3 with labels font ',{}' textcolor rgb '{}' title '{}'", name, size,
                        colour, title);
  };
  add_texts("$dark", dark, "white", "percent", kFontSize);
  add_texts("$light", light, "black", "percent", kFontSize);
  add_texts("$dark_signs", dark_signs, "white", "did not train", kSignSize);
  add_texts("$light_signs", light_signs, "black", "did not train", kSignSize);
  return data + plot + "\n";
}

// Where the first map begins: right of the tasks' names.
double left_of_maps(const std::vector<Lines>& tasks) {
  return 24 + kCharacter * static_cast<double>(max_line(tasks));
}

// Where everything stands on the canvas.
struct Layout {
  double cell_width;
  double left;        // Of the first map.
  double map_height;  // Without its title and marks.
  bool stacked;       // Maps that are too wide for a page stand one below the other.
  double width;

  Layout(const std::vector<ScoreMap>& maps, const std::vector<Lines>& tasks,
         const std::vector<Lines>& encodings, double canvas_width, bool must_stack)
      : cell_width(std::max(kCellWidth, 8 + kLine * static_cast<double>(max_lines(encodings)))),
        left(left_of_maps(tasks)),
        map_height(static_cast<double>(tasks.size()) * kCellHeight) {
    const bool is_paper = canvas_width > 0;
    std::size_t widest = 0;
    std::size_t all = 0;
    // Cells are wide enough for the titles above them, within reason.
    double for_titles = 0;
    for (const ScoreMap& map : maps) {
      for_titles = std::max(for_titles, kCharacter * static_cast<double>(max_line({map.title})) /
                                            static_cast<double>(map.width()));
      widest = std::max(widest, map.width());
      all += map.width();
    }
    const auto gaps = kGap * static_cast<double>(maps.size() - 1);
    const double page = is_paper ? canvas_width : kMaxPageWidth;
    const auto needed = [&](std::size_t cells, double between) {
      return left + static_cast<double>(cells) * cell_width + between + kGap;
    };
    const bool titles_fit = for_titles <= kMaxStretch * cell_width || is_paper;
    if (!is_paper && titles_fit) cell_width = std::max(cell_width, for_titles);
    stacked = must_stack || needed(all, gaps) > page || !titles_fit;
    width = std::max(needed(stacked ? widest : all, stacked ? 0 : gaps), 640.0);
    if (!is_paper) return;
    width = canvas_width;
    const double room = (canvas_width - left - kGap) / static_cast<double>(stacked ? widest : all);
    cell_width = std::min(cell_width, room);
  }

  bool has_decimals() const { return cell_width >= kDecimals; }
  double width_of(const ScoreMap& map) const { return static_cast<double>(map.width()) * cell_width; }
  // With its title and marks.
  double height_of(const ScoreMap& map) const {
    return kTop + map_height + kMarks + kCharacter * static_cast<double>(max_line(names_of(map.encodings)));
  }
  double height_of(const std::vector<ScoreMap>& maps) const {
    double sum = 0;
    double highest = 0;
    for (const ScoreMap& map : maps) {
      sum += height_of(map);
      highest = std::max(highest, height_of(map));
    }
    return stacked ? sum : highest;
  }
};

// On paper, maps with more columns than the width has room for go on below.
std::vector<ScoreMap> split(std::vector<ScoreMap> maps, const std::vector<Lines>& tasks,
                            double canvas_width) {
  if (canvas_width <= 0) return maps;
  const double room = canvas_width - left_of_maps(tasks) - kGap;
  std::vector<ScoreMap> parts;
  for (ScoreMap& map : maps) {
    const std::size_t lines = max_lines(names_of(map.encodings));
    const double cell = std::max(kMinCellWidth, 8 + kLine * static_cast<double>(lines));
    const auto fitting = static_cast<std::size_t>(std::max(room / cell, 1.0));
    const std::size_t count = (map.encodings.size() + fitting - 1) / fitting;
    for (std::size_t part = 0; part < count; ++part) {
      // As equally wide as can be.
      const auto column = [&](std::size_t index) {
        return map.encodings.begin() + static_cast<std::ptrdiff_t>(index * map.encodings.size() / count);
      };
      parts.push_back({.title = map.title, .encodings = {column(part), column(part + 1)}, .cell = map.cell});
      if (part > 0) parts.back().title = continued_title(map.title);
    }
  }
  return parts;
}

// Lines that double quotes join.
std::string joined(const Lines& texts) {
  std::vector<std::string> lines;
  for (const std::string& text : texts) lines.push_back(gnuplot_string(text));
  return fmt::format("{}", fmt::join(lines, R"(."\n".)"));
}

}  // namespace

std::string score_map_script(const ResultTable& table, Aggregate aggregate, const FigureFormat& format,
                             const std::filesystem::path& file) {
  const bool measured =
      std::ranges::any_of(table.cells, [](const auto& entry) { return entry.second.scores.has_value(); });
  if (!measured) throw Error("nothing to draw: no run has finished; run the experiment to its end");
  std::vector<Lines> tasks;
  bool has_invariant = false;
  for (const TableRow& row : table.rows) {
    tasks.push_back({row.task.text() + (row.permutation_invariant ? kInvariantSign : "")});
    has_invariant = has_invariant || row.permutation_invariant;
  }
  const bool has_untrained = std::ranges::any_of(
      table.cells, [&](const auto& entry) { return entry.second.did_not_train(aggregate); });
  const std::vector<ScoreMap> whole = score_maps(table, aggregate);
  const auto split_maps = [&](const std::vector<ScoreMap>& unsplit) {
    return split(unsplit, tasks, format.canvas_width());
  };
  const auto layout_of = [&](const std::vector<ScoreMap>& parts, bool must_stack) {
    return Layout(parts, tasks, names_of(table.encodings), format.canvas_width(), must_stack);
  };
  std::vector<ScoreMap> maps = split_maps(whole);
  const bool is_below = whole.size() > 1 && layout_of(maps, false).stacked;
  if (is_below) maps = stacked_maps(split_maps({whole.front()}), whole.back(), table);
  const Layout layout = layout_of(maps, is_below);
  const Caption caption(
      fmt::format(
          "Score in percent: {} over seeds and learning rates of a cell. --: no value. Colour: the way "
          "from chance to perfect, clipped below chance.{}{}",
          aggregate_phrase(aggregate),
          has_invariant ? fmt::format(" {}: permutation-invariant.", kInvariantSign) : "",
          has_untrained
              ? fmt::format(" {}: {} passed, at the training lengths, predictors without the input.",
                            kUntrainedSign,
                            aggregate == Aggregate::kMax ? "the run shown never" : "no run of the cell")
              : ""),
      layout.width);
  const double height = layout.height_of(maps) + kScaleBlock + caption.height();

  std::string script =
      gnuplot_output(format, file.string(), layout.width, height, kFontSize) + "set multiplot\n";
  script += kViridis;
  script += "set cbrange [0:1]\nunset key\nset border 0\n";
  script += fmt::format("set yrange [{}:-0.5]\n", static_cast<double>(tasks.size()) - 0.5);
  script += caption.script(height);
  double from = layout.left;
  double top = kTop;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const ScoreMap& map = maps[i];
    const double to = from + layout.width_of(map);
    const double bottom = 1 - (top + layout.map_height) / height;
    script += fmt::format(
        "set lmargin at screen {}\nset rmargin at screen {}\nset tmargin at screen {}\nset bmargin at screen "
        "{}\n",
        from / layout.width, to / layout.width, 1 - top / height, bottom);
    // A title may be wider than a map that stands alone in its row.
    script += fmt::format("set title {}\n", layout.stacked ? "''" : joined(map.title));
    if (layout.stacked) {
      script += fmt::format("set label 99 {} at screen 0.5, screen {} center\n", joined(map.title),
                            1 - (top - kTitle) / height);
    }
    script += fmt::format("set xrange [-0.5:{}]\n", static_cast<double>(map.width()) - 0.5);
    script += fmt::format(
        "set xtics scale 0 rotate by 90 right offset 0,-0.3 {}\n",
        marks(names_of(map.encodings), [&](std::size_t encoding) { return map.place(encoding); }));
    // Maps in a row share the tasks' names on the left.
    const bool names_tasks = i == 0 || layout.stacked;
    script +=
        names_tasks ? fmt::format("set ytics scale 0 {}\n", marks(tasks, std::identity())) : "unset ytics\n";
    // One scale for all maps, below the last.
    if (i + 1 == maps.size()) {
      const double width = std::min(kScaleWidth, layout.width - 80);
      script += fmt::format(
          "set colorbox horizontal user origin screen {}, screen {} size screen {}, screen {}\n"
          "set cbtics nomirror out scale 0.5 offset 0,0.4 0,0.25,1\n"
          "set cblabel '(accuracy - chance) / (1 - chance)' offset 0,0.9\n",
          (layout.width - width) / 2 / layout.width, (caption.height() + kScaleBlock - kScale) / height,
          width / layout.width, kScale / height);
    } else {
      script += "unset colorbox\n";
    }
    script += map_plot(table, map, layout.has_decimals()) + "unset label\n";
    if (layout.stacked) {
      top += layout.height_of(map);
    } else {
      from = to + kGap;
    }
  }
  return script + "unset multiplot\nset output\n";
}

}  // namespace che
