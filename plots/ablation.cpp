#include "plots/ablation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/field_text.h"
#include "experiments/display_order.h"
#include "plots/axis_marks.h"
#include "plots/gnuplot.h"
#include "plots/panel_grid.h"

namespace che {
namespace {

constexpr std::string_view kLearningRate = "learning_rate";

using Lines = std::map<std::string, std::map<double, std::vector<double>>>;  // By label and value.

// Scores by value, then by seed and learning rate.
using Replicates = std::map<double, std::map<std::pair<std::int64_t, double>, double>>;

// The most values that share a seed and rate, and their scores of all seeds and rates that these share.
std::map<double, std::vector<double>> matched(const Replicates& replicates) {
  std::map<std::pair<std::int64_t, double>, std::set<double>> values_of;
  for (const auto& [value, scores] : replicates) {
    for (const auto& [replicate, score] : scores) values_of[replicate].insert(value);
  }
  const auto& [any, shared] =
      *std::ranges::max_element(values_of, {}, [](const auto& replicate) { return replicate.second.size(); });
  std::map<double, std::vector<double>> line;
  for (const auto& [replicate, values] : values_of) {
    if (!std::ranges::includes(values, shared)) continue;
    for (const double value : shared) line[value].push_back(replicates.at(value).at(replicate));
  }
  return line;
}

// The numbers that decide what a run learns, but for its seeds.
std::map<std::string, double> numbers_of(const RunConfig& config) {
  std::map<std::string, double> numbers;
  for (const FieldRecord& field : list_fields(config)) {
    const bool learns = field.role == Role::kCell || field.role == Role::kReplica;
    if (!learns || !field.number || field.path == "seed" || field.path == "data_seed") continue;
    if (const auto value = parse_real(field.value)) numbers.emplace(field.path, *value);
  }
  return numbers;
}

// "dape_kerple(dape.hidden=16, model.width=64)" without dape.hidden: "dape_kerple(model.width=64)".
std::string label_without(const std::string& label, std::string_view path) {
  constexpr std::string_view kEncoding = "encoding.";
  const std::string_view key = path.starts_with(kEncoding) ? path.substr(kEncoding.size()) : path;
  const std::string settings = encoding_form(label).settings;
  std::vector<std::string> kept;
  std::istringstream stream(settings);
  for (std::string setting; std::getline(stream >> std::ws, setting, ',');) {
    if (!setting.starts_with(std::string(key) + "=")) kept.push_back(setting);
  }
  const std::string name = label.substr(0, label.find('('));
  return kept.empty() ? name : fmt::format("{}({})", name, fmt::join(kept, ", "));
}

struct Panel {
  std::string path;
  std::string task;
  const Lines* lines;
};

std::vector<Panel> panels_of(const ResultTable& table, const std::vector<Ablation>& ablations) {
  std::vector<Panel> panels;
  for (const Ablation& ablation : ablations) {
    for (const TableRow& row : table.rows) {
      const auto found = ablation.scores.find(row.task);
      if (found == ablation.scores.end()) continue;
      panels.push_back({.path = ablation.path, .task = row.task, .lines = &found->second});
    }
  }
  return panels;
}

// Values that span more than a factor of four stand on a logarithmic axis, each with its mark.
std::string value_axis(const Lines& lines) {
  std::set<double> values;
  for (const auto& [label, line] : lines) {
    for (const auto& [value, scores] : line) values.insert(value);
  }
  const double low = *values.begin();
  const double high = *values.rbegin();
  const bool logarithmic = low > 0 && high > 4 * low;
  std::vector<std::string> marks;
  marks.reserve(values.size());
  for (const double value : values) marks.push_back(fmt::format("'{0}' {0}", real_text(value)));
  const double margin = 0.06 * (high - low);
  const std::string range =
      logarithmic ? fmt::format("set logscale x\nset xrange [{}:{}]\n", low / 1.2, high * 1.2)
                  : fmt::format("unset logscale x\nset xrange [{}:{}]\n", low - margin, high + margin);
  return range + fmt::format("set xtics nomirror out scale 0.6 offset 0,0.3 ({})\n", fmt::join(marks, ", "));
}

double lowest_value(const Lines& lines) {
  double low = 1;
  for (const auto& [label, line] : lines) {
    for (const auto& [value, scores] : line)
      low = std::min(low, *std::min_element(scores.begin(), scores.end()));
  }
  return 100 * low;
}

}  // namespace

std::vector<Ablation> find_ablations(const ResultTable& table) {
  // By path, task and label.
  std::map<std::string, std::map<std::string, std::map<std::string, Replicates>>> found;
  for (const TableRun& run : table.runs) {
    if (!run.score) continue;
    for (const auto& [path, value] : numbers_of(run.config)) {
      const double rate = path == kLearningRate ? 0 : run.config.learning_rate;
      found[path][run.task][label_without(run.encoding, path)][value][{run.config.seed, rate}] = *run.score;
    }
  }
  std::vector<Ablation> ablations;
  for (const auto& [path, tasks] : found) {
    Ablation ablation{.path = path, .scores = {}};
    for (const auto& [task, lines] : tasks) {
      for (const auto& [label, replicates] : lines) {
        auto line = matched(replicates);
        if (line.size() > 1) ablation.scores[task][label] = std::move(line);
      }
    }
    if (!ablation.scores.empty()) ablations.push_back(std::move(ablation));
  }
  return ablations;
}

std::string ablation_script(const ResultTable& table, Aggregate aggregate, std::string_view format,
                            const std::filesystem::path& file) {
  const std::vector<Ablation> ablations = find_ablations(table);
  const std::vector<Panel> panels = panels_of(table, ablations);
  if (panels.empty()) {
    throw Error(
        "nothing to draw: no two finished runs with the same seed differ in one number of the config alone; "
        "give an axis such as learning_rate or encoding.dape.hidden several values");
  }
  std::set<std::string> distinct;
  bool bands = false;
  for (const Panel& panel : panels) {
    for (const auto& [label, line] : *panel.lines) {
      distinct.insert(label);
      for (const auto& [value, scores] : line) bands = bands || scores.size() > 1;
    }
  }
  std::vector<std::string> labels(distinct.begin(), distinct.end());
  std::sort(labels.begin(), labels.end(), encoding_before);
  std::map<std::string, LineStyle> styles;
  std::vector<LegendEntry> legend;
  const std::vector<LineStyle> in_order = line_styles(labels);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    LineStyle& style = styles[labels[i]] = in_order[i];
    // Every value was measured; what lies between was not.
    if (style.marker == 0) style.marker = 7;
    legend.push_back({.label = labels[i], .line = style});
  }
  const PanelGrid grid(
      panels.size(), std::move(legend),
      fmt::format(
          "Score over a setting, all others equal: {} over the seeds and rates that all values share{}.",
          aggregate_phrase(aggregate), bands ? "; the band spans them" : ""),
      {.height = 326});

  std::string script = grid.begin(format, file);
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const Panel& panel = panels[p];
    // The horizontal axis differs from panel to panel.
    script += grid.place(p, panel.task, panel.path, "score (%)");
    script += fmt::format("set xlabel {} offset 0,0.6\n", gnuplot_string(panel.path));
    script += percent_axis('y', lowest_value(*panel.lines)) + value_axis(*panel.lines);
    std::vector<std::string> band_elements;
    std::vector<std::string> line_elements;
    for (const auto& [label, line] : *panel.lines) {
      const std::string data = fmt::format("$l{}", line_elements.size());
      script += data + " << EOD\n";
      bool band = false;
      for (const auto& [value, scores] : line) {
        const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
        script += fmt::format("{} {:.6g} {:.6g} {:.6g}\n", real_text(value),
                              100 * aggregate_of(scores, aggregate), 100 * *low, 100 * *high);
        band = band || scores.size() > 1;
      }
      script += "EOD\n";
      const LineStyle& style = styles.at(label);
      if (band) {
        band_elements.push_back(
            fmt::format("{} using 1:3:4 with {}", data, band_text(style.colour, panel.lines->size())));
      }
      line_elements.push_back(
          fmt::format("{} with linespoints {} pt {} ps 0.8", data, line_text(style), style.marker));
    }
    band_elements.insert(band_elements.end(), line_elements.begin(), line_elements.end());
    script += fmt::format("plot {}\n", fmt::join(band_elements, ", "));
  }
  return script + grid.end();
}

}  // namespace che
