#include "plots/attention_bias.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "plots/gnuplot/axis_marks.h"
#include "plots/gnuplot/caption.h"
#include "plots/gnuplot/gnuplot.h"
#include "plots/gnuplot/palette.h"

namespace che {
namespace {

// All sizes in pixels of the figure at full size.
constexpr std::int64_t kMaxColumns = 4;
constexpr double kPanelWidth = 370;
constexpr double kMinPanelWidth = 240;  // On paper.
constexpr int kPanelHeight = 280;
constexpr int kLeft = 90;   // From a panel's edge to its axis.
constexpr int kRight = 20;  // And to the other axis.
constexpr int kScale = 70;  // For a heat map's scale of colours, added to kRight.
constexpr int kTop = 38;
constexpr int kBottom = 58;
constexpr int kLegend = 44;         // With one row of entries,
constexpr int kLegendRow = 24;      // and for each further one.
constexpr int kLabelMiddle = 12;    // To the middle of a vertical axis' label.
constexpr double kCharacter = 9.5;  // Width of one, on average.
constexpr int kFontSize = 14;

// A heat map has at most so many cells a side: a panel has not many more pixels.
constexpr std::int64_t kMaxCells = 200;

// Where everything stands on the canvas: one panel per head, every layer on rows of its own.
struct Layout {
  std::int64_t columns;
  double panel_width;
  std::int64_t rows_a_layer;
  int legend;
  double width;
  Caption caption;
  double height;

  // `canvas`: the width of the paper's canvas, or 0 for the size of a screen.
  Layout(const AttentionBias& bias, const std::string& caption_text, int legend_height, double canvas)
      : columns(std::min(bias.heads, canvas > 0 ? columns_on(canvas) : kMaxColumns)),
        panel_width(canvas > 0 ? std::min(canvas / static_cast<double>(columns), kPanelWidth) : kPanelWidth),
        rows_a_layer((bias.heads + columns - 1) / columns),
        legend(legend_height),
        // Even one panel leaves room for legend and caption.
        width(canvas > 0 ? canvas : static_cast<double>(std::max<std::int64_t>(columns, 2)) * kPanelWidth),
        caption(caption_text, width),
        height(static_cast<double>(legend + rows_a_layer * bias.layers * kPanelHeight) + caption.height()) {}

  static std::int64_t columns_on(double canvas) {
    return std::clamp(static_cast<std::int64_t>(canvas / kMinPanelWidth), std::int64_t{1}, kMaxColumns);
  }

  double x(double pixels) const { return pixels / width; }
  double y_from_top(double pixels) const { return 1 - pixels / height; }

  // Places the panel of this head, with its title and its axes' labels.
  std::string panel(std::int64_t layer, std::int64_t head, int right, std::string_view vertical) const {
    const double left = static_cast<double>(head % columns) * panel_width +
                        (width - static_cast<double>(columns) * panel_width) / 2;
    const std::int64_t row = layer * rows_a_layer + head / columns;
    const auto top = static_cast<double>(legend + row * kPanelHeight);
    return fmt::format(
        "set lmargin at screen {}\nset rmargin at screen {}\nset tmargin at screen {}\nset bmargin at screen "
        "{}\nset title 'layer {}, head {}' offset 0,-0.5\nset xlabel 'key' offset 0,0.6\n"
        "set label 1 '{}' at screen {}, graph 0.5 center rotate\n",
        x(left + kLeft), x(left + panel_width - right), y_from_top(top + kTop),
        y_from_top(top + kPanelHeight - kBottom), layer, head, vertical, x(left + kLabelMiddle));
  }
};

void begin(std::string& script, const Layout& layout, const FigureFormat& format,
           const std::filesystem::path& file) {
  script += gnuplot_output(format, file.string(), layout.width, layout.height, kFontSize) + "set multiplot\n";
}

// Draws what stands on the canvas next to the panels.
void place_labels(std::string& script, const Layout& layout) {
  script += layout.caption.script(layout.height);
  script += "unset border\nunset tics\nunset key\nset xrange [0:1]\nset yrange [0:1]\nplot NaN notitle\n";
  script += "unset label\nunset arrow\nunset object\nset border 3 lw 1.2\n";
}

std::string subject(const AttentionBias& bias) {
  return fmt::format("{} on {} after {} steps, length {}, sample {}", bias.encoding, bias.task, bias.step,
                     bias.length, bias.sample);
}

// What an axis or a scale of colours has to cover.
struct Range {
  double low = INFINITY;
  double high = -INFINITY;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }

  // Equal values, too, get an axis of some length, and lines stay off its ends.
  Range widened(double share) const {
    const double margin = high - low > 1e-6 ? share * (high - low) : 0.5;
    return {low - margin, high + margin};
  }

  // Both ends as far from zero.
  Range symmetric() const {
    const double most = std::max({std::abs(low), std::abs(high), 1e-6});
    return {-most, most};
  }

  double step(int marks) const { return mark_step(high - low, marks); }
};

std::string key_marks(const AttentionBias& bias) {
  return fmt::format("set xtics nomirror out scale 0.6 offset 0,0.3 0,{}\n",
                     std::max(1.0, mark_step(static_cast<double>(bias.tokens), 5)));
}

struct Line {
  const char* label;
  const char* style;
};
constexpr std::array<Line, 4> kLines{{{"logit A", "lc rgb '#888888' lw 1.3"},
                                      {"bias B", "lc rgb '#E69F00' lw 3.5"},
                                      {"adapted bias", "lc rgb '#0072B2' lw 2 dt (8,3)"},
                                      {"f", "lc rgb '#009E73' lw 1.6 dt (3,2)"}}};

// Those that there are, the last one f.
std::span<const Line> lines_of(const AttentionBias& bias) {
  return std::span(kLines).first(bias.has_f ? kLines.size() : kLines.size() - 1);
}
constexpr const char* kQueryStyle = "lc rgb '#D55E00' lw 1.3 dt (2,3)";
constexpr const char* kShade = "#E8E8E8";

struct LegendEntry {
  std::string label;
  std::string style;  // Of a line; empty for the shade.

  double width() const { return 40 + kCharacter * static_cast<double>(label.size()) + 22; }
};

std::vector<LegendEntry> legend_of(const AttentionBias& bias) {
  std::vector<LegendEntry> entries;
  for (const Line& line : lines_of(bias)) entries.push_back({line.label, line.style});
  entries.push_back({"query", kQueryStyle});
  entries.push_back({"output", ""});
  return entries;
}

// How many entries each row of the legend has.
std::vector<std::size_t> legend_rows(const std::vector<LegendEntry>& entries, double width) {
  std::vector<std::size_t> rows;
  double left = width;
  for (const LegendEntry& entry : entries) {
    if (left + entry.width() > width) {
      rows.push_back(0);
      left = 10;
    }
    ++rows.back();
    left += entry.width();
  }
  return rows;
}

void append_legend(std::string& script, const Layout& layout, const AttentionBias& bias) {
  const std::vector<LegendEntry> entries = legend_of(bias);
  double middle = kLegend / 2.0;
  auto entry = entries.begin();
  for (const std::size_t count : legend_rows(entries, layout.width)) {
    const auto end = entry + static_cast<std::ptrdiff_t>(count);
    double row = 0;
    for (auto one = entry; one != end; ++one) row += one->width();
    double left = std::max(10.0, (layout.width - row) / 2);
    for (; entry != end; left += entry->width(), ++entry) {
      if (entry->style.empty()) {
        script += fmt::format(
            "set object 1 rectangle from screen {}, screen {} to screen {}, screen {} fc rgb '{}' fs solid "
            "noborder\n",
            layout.x(left), layout.y_from_top(middle + 8), layout.x(left + 34), layout.y_from_top(middle - 8),
            kShade);
      } else {
        script += fmt::format("set arrow from screen {}, screen {} to screen {}, screen {} nohead {}\n",
                              layout.x(left), layout.y_from_top(middle), layout.x(left + 34),
                              layout.y_from_top(middle), entry->style);
      }
      script += fmt::format("set label '{}' at screen {}, screen {} left\n", entry->label,
                            layout.x(left + 40), layout.y_from_top(middle));
    }
    middle += kLegendRow;
  }
}

// The means over `side` x `side` pairs of one head, a row of text a row of queries; notes the range.
std::string map_rows(const AttentionBias& bias, std::int64_t layer, std::int64_t head, std::int64_t side,
                     Range& range) {
  std::string text;
  for (std::int64_t query = 0; query < bias.tokens; query += side) {
    const std::int64_t last_query = std::min(query + side, bias.tokens);
    for (std::int64_t key = 0; key < bias.tokens; key += side) {
      const std::int64_t last_key = std::min(key + side, bias.tokens);
      double sum = 0;
      for (std::int64_t i = query; i < last_query; ++i) {
        for (std::int64_t j = key; j < last_key; ++j) sum += bias.adapted[bias.index(layer, head, i, j)];
      }
      const double mean = sum / static_cast<double>((last_query - query) * (last_key - key));
      range.include(mean);
      fmt::format_to(std::back_inserter(text), "{:.5g} ", mean);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string attention_bias_query_script(const AttentionBias& bias, std::int64_t query,
                                        const FigureFormat& format, const std::filesystem::path& file) {
  const double canvas = format.canvas_width();
  const std::size_t rows = canvas > 0 ? legend_rows(legend_of(bias), canvas).size() : 1;
  const Layout layout(
      bias,
      fmt::format("{}\nquery {} over all keys; adapted bias: logits minus A{}", subject(bias), query,
                  bias.has_f ? bias.adds_bias ? ", which is B + f" : ", which is f" : ""),
      kLegend + kLegendRow * static_cast<int>(rows - 1), canvas);
  std::string script;
  for (std::int64_t layer = 0; layer < bias.layers; ++layer) {
    for (std::int64_t head = 0; head < bias.heads; ++head) {
      script += fmt::format("$l{}h{} << EOD\n", layer, head);
      for (std::int64_t key = 0; key < bias.tokens; ++key) {
        const std::size_t i = bias.index(layer, head, query, key);
        fmt::format_to(std::back_inserter(script), "{} {:.6g} {:.6g} {:.6g}", key, bias.logit[i],
                       bias.bias[i], bias.adapted[i]);
        if (bias.has_f) fmt::format_to(std::back_inserter(script), " {:.6g}", bias.f(i));
        script += '\n';
      }
      script += "EOD\n";
    }
  }
  begin(script, layout, format, file);
  append_legend(script, layout, bias);
  place_labels(script, layout);
  script += fmt::format("set xrange [-0.5:{}]\n{}", static_cast<double>(bias.tokens) - 0.5, key_marks(bias));
  for (std::int64_t layer = 0; layer < bias.layers; ++layer) {
    for (std::int64_t head = 0; head < bias.heads; ++head) {
      Range range;
      for (std::int64_t key = 0; key < bias.tokens; ++key) {
        const std::size_t i = bias.index(layer, head, query, key);
        for (const float value : {bias.logit[i], bias.bias[i], bias.adapted[i]}) range.include(value);
        if (bias.has_f) range.include(bias.f(i));
      }
      range = range.widened(0.05);
      script += layout.panel(layer, head, kRight, head % layout.columns == 0 ? "logit" : "");
      script += fmt::format("set yrange [{}:{}]\nset ytics nomirror out scale 0.6 offset 0.4,0 {}\n",
                            range.low, range.high, range.step(6));
      script += fmt::format(
          "set object 1 rectangle from first {}, graph 0 to graph 1, graph 1 behind fc rgb '{}' fs solid "
          "noborder\nset arrow 1 from first {}, graph 0 to first {}, graph 1 nohead back {}\nplot",
          static_cast<double>(bias.first_output) - 0.5, kShade, query, query, kQueryStyle);
      const std::span<const Line> lines = lines_of(bias);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        script += fmt::format("{} $l{}h{} using 1:{} with lines {} title '{}'", i == 0 ? "" : ",", layer,
                              head, i + 2, lines[i].style, lines[i].label);
      }
      script += "\nunset object 1\nunset arrow 1\nunset label 1\n";
    }
  }
  script += "unset multiplot\nset output\n";
  return script;
}

std::string attention_bias_map_script(const AttentionBias& bias, const FigureFormat& format,
                                      const std::filesystem::path& file) {
  const std::int64_t side = (bias.tokens + kMaxCells - 1) / kMaxCells;
  const std::int64_t covered = (bias.tokens + side - 1) / side * side;  // By whole blocks.
  const double end = static_cast<double>(covered) - 0.5;
  const Layout layout(
      bias,
      fmt::format("{}\nadapted bias: logits minus A{}; white is zero, and one scale serves the heads of a "
                  "layer; the output begins at the grey lines",
                  subject(bias), side == 1 ? "" : fmt::format(", mean over {0} x {0} pairs", side)),
      0, format.canvas_width());
  std::string script;
  begin(script, layout, format, file);
  place_labels(script, layout);
  script += kDiverging;
  script += fmt::format("set xrange [-0.5:{0}]\nset yrange [{0}:-0.5]\n{1}", end, key_marks(bias));
  script += fmt::format("set ytics nomirror out scale 0.6 offset 0.4,0 0,{}\n",
                        std::max(1.0, mark_step(static_cast<double>(bias.tokens), 5)));
  for (std::int64_t layer = 0; layer < bias.layers; ++layer) {
    Range range;
    std::vector<std::string> rows;
    for (std::int64_t head = 0; head < bias.heads; ++head) {
      rows.push_back(map_rows(bias, layer, head, side, range));
    }
    range = range.symmetric();
    for (std::int64_t head = 0; head < bias.heads; ++head) {
      script += fmt::format("$map << EOD\n{}EOD\n", rows[static_cast<std::size_t>(head)]);
      script += layout.panel(layer, head, kRight + kScale, head % layout.columns == 0 ? "query" : "");
      script += fmt::format("set cbrange [{}:{}]\nset cbtics nomirror out scale 0.5 offset -0.6,0 {}\n",
                            range.low, range.high, range.step(4));
      const double border = static_cast<double>(bias.first_output) - 0.5;
      script += fmt::format(
          "set arrow 1 from first {0}, graph 0 to first {0}, graph 1 nohead front lc rgb '#555555' lw 1\n"
          "set arrow 2 from graph 0, first {0} to graph 1, first {0} nohead front lc rgb '#555555' lw 1\n",
          border);
      script +=
          fmt::format("plot $map matrix using ($1*{0}+{1}):($2*{0}+{1}):3 with image title 'adapted bias'\n",
                      side, static_cast<double>(side - 1) / 2);
    }
  }
  script += "unset multiplot\nset output\n";
  return script;
}

}  // namespace che
