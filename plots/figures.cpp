#include "plots/figures.h"

#include <algorithm>

#include "core/error.h"
#include "core/suggestion.h"
#include "experiments/results/effects.h"
#include "plots/accuracy_over_length.h"
#include "plots/learning_curves.h"
#include "plots/run_strips.h"
#include "plots/score_map.h"
#include "plots/score_steps.h"
#include "plots/setting_effects.h"

namespace che {
namespace {

bool has_score(const ResultTable& table) {
  return std::ranges::any_of(table.runs, [](const TableRun& run) { return run.score.has_value(); });
}

bool has_learning(const ResultTable& table) {
  return std::ranges::any_of(
      table.runs, [](const TableRun& run) { return run.score.has_value() && !run.metrics.empty(); });
}

bool has_scores_on_the_way(const ResultTable& table) {
  return std::ranges::any_of(
      table.runs, [](const TableRun& run) { return run.score.has_value() && !run.at_steps.empty(); });
}

bool has_setting_effect(const ResultTable& table) { return !setting_effects(table).empty(); }

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = {
      {.name = "accuracy",
       .title = "Accuracy over length",
       .baselines = true,
       .drawable = has_score,
       .script = accuracy_over_length_script},
      {.name = "map",
       .title = "Scores of all tasks and encodings",
       .baselines = true,
       .drawable = has_score,
       .script = score_map_script},
      {.name = "runs",
       .title = "Scores of single runs",
       .baselines = true,
       .drawable = has_score,
       .script = [](const ResultTable& table, Aggregate, const FigureFormat& format,
                    const std::filesystem::path& file) { return run_strips_script(table, format, file); }},
      {.name = "learning",
       .title = "Training loss over steps",
       .drawable = has_learning,
       .script = learning_curves_script},
      {.name = "steps",
       .title = "Score over training steps",
       .drawable = has_scores_on_the_way,
       .script = score_steps_script},
      {.name = "ablation",
       .title = "Score over a setting",
       .drawable = has_setting_effect,
       .script = setting_effects_script}};
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
  std::vector<const Figure*> drawable;
  for (const Figure& figure : figures()) {
    if (figure.drawable(table)) drawable.push_back(&figure);
  }
  return drawable;
}

}  // namespace che
