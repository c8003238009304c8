#include "plots/figures.h"

#include <algorithm>

#include "core/error.h"
#include "core/suggestion.h"
#include "plots/ablation.h"
#include "plots/accuracy_over_length.h"
#include "plots/learning_curves.h"
#include "plots/run_strips.h"
#include "plots/score_map.h"

namespace che {

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = {
      {.name = "accuracy", .title = "Accuracy over length", .script = accuracy_over_length_script},
      {.name = "map", .title = "Scores of all tasks and encodings", .script = score_map_script},
      {.name = "runs",
       .title = "Scores of single runs",
       .script = [](const ResultTable& table, Aggregate, std::string_view format,
                    const std::filesystem::path& file) { return run_strips_script(table, format, file); }},
      {.name = "learning", .title = "Training loss over steps", .script = learning_curves_script},
      {.name = "ablation", .title = "Score over a setting", .script = ablation_script}};
  return all;
}

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const Figure& figure : figures()) names.push_back(figure.name);
  return names;
}

const Figure& figure_named(std::string_view name) {
  for (const Figure& figure : figures()) {
    if (figure.name == name) return figure;
  }
  throw Error("unknown figure '" + std::string(name) + "'" + known_names_hint(name, figure_names()));
}

std::vector<const Figure*> drawable_figures(const ResultTable& table) {
  const bool finished =
      std::ranges::any_of(table.runs, [](const TableRun& run) { return run.score.has_value(); });
  std::vector<const Figure*> drawable;
  for (const Figure& figure : figures()) {
    if (finished && (figure.name != "ablation" || !find_ablations(table).empty()))
      drawable.push_back(&figure);
  }
  return drawable;
}

}  // namespace che
