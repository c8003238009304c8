#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/text.h"
#include "experiments/results/read_results.h"
#include "plots/figures.h"

namespace che {
namespace {

namespace fs = std::filesystem;

struct PlotOptions {
  ReadExperiments runs;
  std::vector<std::string> figures;  // All that have something to draw unless given.
  std::vector<std::string> formats = figure_formats();
  std::string aggregate;  // Empty: max, or mean where learning rates are selected.
  std::string output;
  double width_mm = kDefaultWidth;
  std::vector<std::pair<std::string, std::string>> compared;  // Columns; chosen by the program unless given.
  bool by_length = false;  // Whether differences are shown length by length.
};

int plot(const PlotOptions& options) {
  if (options.output.empty() && options.runs.folders.size() > 1) {
    throw Error("several experiments need --output: the figures belong to no one folder");
  }
  const RunChoice choice = options.runs.choice();
  if (const std::string narrowing = options.runs.narrowing(); options.output.empty() && !narrowing.empty()) {
    throw Error(narrowing + " needs --output: figures read another way do not replace the experiment's own");
  }
  ResultTable table = read_table(options.runs.paths(), choice, options.runs.rules());
  const auto is_text = [](const TableRow& row) { return row.level == Level::kText; };
  const std::string option = options.by_length ? "--by-length" : options.compared.empty() ? "" : "--compare";
  if (!option.empty() && !table.rows.empty() && std::ranges::all_of(table.rows, is_text)) {
    throw Error(
        option +
        ": the figure differences shows tasks, and all these runs are on texts; the figure perplexity "
        "shows them by length, and `che compare` compares their encodings");
  }
  std::vector<std::string> required = options.figures;
  if (!option.empty() && required.empty()) {
    required = {"differences"};
  } else if (!option.empty() && std::ranges::find(required, "differences") == required.end()) {
    throw Error(option + " is of the figure differences; add it to --figure");
  }
  std::vector<const Figure*> chosen;
  for (const std::string& name : options.figures.empty() ? figure_names() : options.figures) {
    const Figure* const figure = &figure_named(name);
    if (std::ranges::find(chosen, figure) == chosen.end()) chosen.push_back(figure);
  }
  if (std::ranges::any_of(chosen, &Figure::baselines)) add_trivial_baselines(table);
  add_paper_perplexities(table);
  const Aggregate aggregate =
      options.aggregate.empty() ? default_aggregate(table) : aggregate_named(options.aggregate);
  const fs::path output = options.output.empty() ? options.runs.folders.front() : options.output;
  const FigureSource source{
      .table = table, .aggregate = aggregate, .compared = options.compared, .by_length = options.by_length};
  const std::vector<const Figure*> drawable = write_figure_data(chosen, source, output, required);
  if (drawable.empty()) throw Error("nothing to draw: no run has finished; run the experiment to its end");
  for (const fs::path& file : draw_figures(drawable, output, options.formats, options.width_mm)) {
    fmt::print("{}\n", one_line(file.string(), kWholeText));
  }
  return 0;
}

std::string figure_help() {
  std::string text = "which to draw, all that have something to show unless given:";
  for (const Figure& figure : figures()) text += fmt::format(" {} ({});", figure.name, figure.title);
  text.back() = '.';
  return text;
}

}  // namespace

void add_plot_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("plot", "Draw the results of an experiment");
  const auto options = set_action(*command, action, plot);
  add_read_experiments(*command, options->runs);
  command->add_option("--figure", options->figures, figure_help())
      ->check(one_of(figure_names()))
      ->delimiter(',');
  command->add_option("--format", options->formats, "svg, pdf, png, several with commas; all unless given")
      ->check(one_of(figure_formats()))
      ->delimiter(',');
  add_aggregate(
      *command, options->aggregate,
      "max, which is the best run, over several seeds the mean at its learning rate, unless given; "
      "mean with --select; differences takes the mean in place of max, and learning always takes the median");
  command
      ->add_option(
          "--compare", options->compared,
          "two columns A B: the figure differences shows A minus B; can be given several times; each "
          "encoding with DAPE and the same one without it unless given")
      ->type_name("A B")
      ->allow_extra_args(false);
  command->add_flag("--by-length", options->by_length,
                    "the figure differences has a row for each test length");
  add_width_option(*command, options->width_mm);
  command->add_option("-o,--output", options->output,
                      "folder to write to; the results folder unless given; needed with several experiments");
}

}  // namespace che
