#include "plots/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <system_error>

#include "core/error.h"
#include "core/files.h"
#include "core/process.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "experiments/results/effects.h"
#include "tables/formats/formats.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// The package lies in the source tree; another copy can be on Python's own path. Python reads an empty field
// as the working directory.
std::string python_path() {
  std::string path = fmt::format("PYTHONPATH={}", CHE_PLOTS_FOLDER);
  const char* const named = std::getenv("PYTHONPATH");
  std::istringstream folders(named == nullptr ? "" : named);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty()) path += ':' + folder;
  }
  return path;
}

// Runs the package as `python3 -m che_plots` does, but imports nothing from the working directory, where a
// stranger's results may bring modules of their own. Python has an option for this from 3.11 on only.
constexpr const char* kRunPackage =
    "import sys; sys.path[:] = filter(None, sys.path); import runpy; "
    "runpy.run_module('che_plots', run_name='__main__', alter_sys=True)";

std::string last_line(const std::string& text) {
  std::string last = "no message";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
  }
  return one_line(last, kWholeText);
}

// The table with the rows that a figure shows. A text has a row for each test length, of which a figure that
// shows tasks too takes the first, with each column's first cell.
ResultTable with_rows(const ResultTable& table, FigureRows rows) {
  ResultTable chosen = table;
  std::map<std::string, TaskLabel> texts;
  std::erase_if(chosen.rows, [&](const TableRow& row) {
    if (row.level != Level::kText) return rows == FigureRows::kTexts;
    if (rows != FigureRows::kAll) return rows == FigureRows::kTasks;
    TaskLabel label = row.task;
    std::erase_if(label.settings, [](const SettingValue& setting) { return setting.path == "task.length"; });
    const auto [first, is_new] = texts.emplace(label.text(), row.task);
    for (const EncodingLabel& encoding : table.encodings) {
      const TableCell* const cell = is_new ? nullptr : table.cell(row.task, encoding);
      if (cell != nullptr) chosen.cells.emplace(CellKey{first->second, encoding}, *cell);
    }
    return !is_new;
  });
  return chosen;
}

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = {
      {.name = "accuracy",
       .title = "Accuracy over length",
       .needs = "a finished run on a task",
       .baselines = true,
       .data = accuracy_data},
      {.name = "differences",
       .title = "Differences between encodings",
       .needs =
           "two repetitions or more on a task of an encoding with DAPE and of the same one without it, or of "
           "both columns of --compare",
       .data = difference_data},
      {.name = "map",
       .title = "Scores of all tasks and encodings",
       .needs = "a finished run on a task",
       .baselines = true,
       .data = map_data},
      {.name = "runs",
       .title = "Scores of single runs",
       .needs = "two finished runs of one cell on a task",
       .baselines = true,
       .data = run_data},
      {.name = "learning",
       .title = "Training loss over steps",
       .needs = "a finished run with records of its training",
       .data = learning_data,
       .rows = FigureRows::kAll},
      {.name = "perplexity",
       .title = "Perplexity over length",
       .needs = "a finished run on a text",
       .data = perplexity_data,
       .rows = FigureRows::kTexts},
      {.name = "positions",
       .title = "Perplexity over positions in the longest window",
       .needs = "a finished run on a text with evaluation.curve",
       .data = position_data,
       .rows = FigureRows::kTexts},
      {.name = "steps",
       .title = "Score over training steps",
       .needs = "a finished run on a task with evaluation.at_steps",
       .data = step_data},
      {.name = "effects",
       .title = "Score over a setting",
       .needs = "finished runs on a task with the same seeds that differ only in one number of the config, "
                "such as "
                "learning_rate or encoding.dape.hidden, with three values or more",
       .baselines = true,
       .data = effect_data}};
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

const std::vector<std::string>& figure_formats() {
  static const std::vector<std::string> formats = {"svg", "pdf", "png"};
  return formats;
}

std::vector<const Figure*> write_figure_data(const std::vector<const Figure*>& chosen,
                                             const FigureSource& source, const fs::path& folder,
                                             const std::vector<std::string>& required) {
  std::vector<const Figure*> drawable;
  std::vector<DataTable> data;
  for (const Figure* figure : chosen) {
    const ResultTable table = with_rows(source.table, figure->rows);
    DataTable of_figure = figure->data({.table = table,
                                        .aggregate = source.aggregate,
                                        .compared = source.compared,
                                        .by_length = source.by_length});
    if (of_figure.rows.empty()) {
      if (std::ranges::find(required, figure->name) == required.end()) continue;
      throw Error(fmt::format("nothing to draw for {}: it needs {}", figure->name, figure->needs));
    }
    add_choice(of_figure, source.table);
    drawable.push_back(figure);
    data.push_back(std::move(of_figure));
  }
  const fs::path data_folder = folder / kFigureDataFolder;
  for (std::size_t i = 0; i < drawable.size(); ++i) {
    std::error_code error;
    if (fs::is_symlink(data_folder, error)) {
      throw Error(
          fmt::format("'{}' is a symbolic link, which may lead elsewhere; remove it", data_folder.string()));
    }
    fs::create_directories(data_folder, error);
    if (error) {
      throw Error(fmt::format("cannot write figures to '{}': {}; name another folder with --output",
                              folder.string(), error.message()));
    }
    write_file_atomically(data_folder / (drawable[i]->name + ".csv"), csv_table(data[i]));
  }
  return drawable;
}

std::vector<fs::path> run_che_plots(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"python3", "-c", kRunPackage};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ProgramOutput program;
  try {
    program = run_program(words, {python_path(), "PYTHONDONTWRITEBYTECODE=1"});
  } catch (const Error& error) {
    throw Error(
        fmt::format("cannot draw figures: {} (Debian: apt-get install python3-matplotlib)", error.what()),
        ErrorKind::kRuntime);
  }
  if (program.exit_code != 0) {
    throw Error("cannot draw figures: " + last_line(program.messages), ErrorKind::kRuntime);
  }
  std::vector<fs::path> files;
  std::istringstream lines(program.output);
  for (std::string line; std::getline(lines, line);) files.emplace_back(line);
  if (files.empty()) {
    throw Error("cannot draw figures: python3 says of no file that it drew it", ErrorKind::kRuntime);
  }
  return files;
}

std::vector<fs::path> draw_figures(const std::vector<const Figure*>& chosen, const fs::path& folder,
                                   const std::vector<std::string>& formats, double width_mm) {
  std::vector<std::string> arguments = {"--figure"};
  for (const Figure* figure : chosen) arguments.push_back(figure->name);
  arguments.emplace_back("--format");
  arguments.insert(arguments.end(), formats.begin(), formats.end());
  arguments.insert(arguments.end(), {"--width", fmt::format("{}", width_mm), "--", folder.string()});
  return run_che_plots(arguments);
}

}  // namespace che
