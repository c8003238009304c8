#include "report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "core/files.h"
#include "core/text.h"
#include "experiments/results/paper_agreement.h"
#include "experiments/results/provenance.h"
#include "experiments/schedule/time_left.h"
#include "plots/figures.h"
#include "report/html.h"
#include "tables/notes.h"
#include "tables/result_tables.h"

namespace che {
namespace {

namespace mustache = kainjow::mustache;

// Joins the values of all runs, each once.
template <class Value>
std::string distinct(const ResultTable& table, Value value) {
  std::set<std::string> values;
  for (const TableRun& run : table.runs) {
    if (std::string text = value(run); !text.empty()) values.insert(std::move(text));
  }
  return values.empty() ? "unknown" : fmt::format("{}", fmt::join(values, ", "));
}

mustache::data texts(std::initializer_list<std::pair<const char*, std::string>> values) {
  mustache::data view;
  for (const auto& [key, text] : values) view[key] = text;
  return view;
}

bool has_score(const TableRun* run) { return run->score.has_value(); }

mustache::list facts_view(const ResultTable& table) {
  std::size_t finished = 0;
  double seconds = 0;
  std::string first, last;
  const auto runs = table.by_stored_run();
  for (const auto& run : runs) {
    const RunStatus& status = run.front()->status;
    finished += std::ranges::all_of(run, has_score) ? 1U : 0U;
    seconds += status.training_seconds + status.evaluation_seconds;
    if (!status.started.empty() && (first.empty() || status.started < first)) first = status.started;
    last = std::max(last, status.updated);
  }
  const auto known = [](const std::string& text) { return text.empty() ? std::string("unknown") : text; };
  mustache::list facts;
  const auto add = [&facts](const std::string& name, const std::string& value) {
    facts.push_back(texts({{"name", name}, {"value", value}}));
  };
  add("Runs", fmt::format("{}, {} of them finished", runs.size(), finished));
  for (const Fact& fact : provenance(table)) add(fact.name, fact.value);
  add("Program", fmt::format("che {}, LibTorch {}",
                             distinct(table, [](const TableRun& run) { return run.status.version; }),
                             distinct(table, [](const TableRun& run) { return run.status.torch_version; })));
  add("Hosts", distinct(table, [](const TableRun& run) { return run.status.host; }));
  add("Time",
      fmt::format("{} .. {}, {} of training and evaluation over all runs (a job's time counts for each "
                  "of its runs)",
                  known(first), known(last), duration_text(seconds)));
  return facts;
}

bool has_spread(const ResultTable& table) {
  return std::ranges::any_of(
      table.cells, [](const auto& cell) { return cell.second.scores && cell.second.scores->n > 1; });
}

// A table with its title, without notes of these kinds, which the page has elsewhere.
mustache::data titled_view(Table table, const std::string& id, std::initializer_list<NoteKind> left_out) {
  std::erase_if(table.printed.notes,
                [&](const Note& note) { return std::ranges::find(left_out, note.kind) != left_out.end(); });
  mustache::data view = table_view(table.printed, id);
  view["title"] = table.title;
  return view;
}

// Returns the id of the part that describes a cell of the score tables.
std::string config_id(std::size_t row, std::size_t column) {
  return fmt::format("config-{}-{}", row, column);
}
std::string link_to_config(std::size_t row, std::size_t column) { return "#" + config_id(row, column); }

mustache::list scores_view(const ResultTable& table) {
  mustache::list views;
  const Aggregate aggregate = default_aggregate(table);
  views.push_back(titled_view(score_table(table, {.aggregate = aggregate,
                                                  .paper = PaperValues::kComparable,
                                                  .difference = true,
                                                  .spread = table.select.has_value(),
                                                  .link = link_to_config}),
                              "scores", {NoteKind::kProvenance}));
  if (has_spread(table) && !table.select) {
    views.push_back(titled_view(
        score_table(table, {.aggregate = Aggregate::kMean, .spread = true, .link = link_to_config}), "means",
        {NoteKind::kProvenance}));
  }
  if (const PaperAgreement agreed = agree(table, aggregate); agreed.ranked > 0) {
    // The note on the paper's values stands below the scores.
    views.push_back(
        titled_view(agreement_table(agreed, table), "agreement", {NoteKind::kProvenance, NoteKind::kPaper}));
  }
  return views;
}

// A new folder, removed with what is in it at the end of its scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    std::string name = (parent / "che-report-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
      throw Error(fmt::format("cannot make a folder for figures{}; TMPDIR may name another place",
                              error ? "" : fmt::format(" in '{}'", parent.string())),
                  ErrorKind::kRuntime);
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The figures that are drawn, and sentences about the others.
struct FigureViews {
  mustache::list drawn;
  mustache::list undrawn;
};

// Reads the pages of a figure from a folder, in their order.
std::vector<std::string> pages_of(const std::filesystem::path& folder, const Figure& figure) {
  std::vector<std::string> pages;
  if (std::filesystem::exists(folder / (figure.name + ".svg")))
    return {read_file(folder / (figure.name + ".svg"))};
  for (int page = 1;; ++page) {
    const std::filesystem::path file = folder / fmt::format("{}-{}.svg", figure.name, page);
    if (!std::filesystem::exists(file)) return pages;
    pages.push_back(read_file(file));
  }
}

FigureViews figure_views(const ResultTable& table, const WarningSink& warn) {
  constexpr double kPhone = 90;  // Width of a phone's window, in mm.
  FigureViews views;
  std::vector<const Figure*> chosen;
  for (const Figure& figure : figures()) chosen.push_back(&figure);
  const TemporaryFolder whole;
  const TemporaryFolder narrow;
  const FigureSource source{.table = table, .aggregate = default_aggregate(table)};
  chosen = write_figure_data(chosen, source, whole.path());
  if (chosen.empty()) {
    views.undrawn.push_back(texts({{"what", "No run has finished."}, {"why", ""}}));
    return views;
  }
  try {
    draw_figures(chosen, whole.path(), {"svg"}, kDefaultWidth);
    std::filesystem::rename(whole.path() / kFigureDataFolder, narrow.path() / kFigureDataFolder);
    draw_figures(chosen, narrow.path(), {"svg"}, kPhone);
  } catch (const Error& failure) {
    warn(fmt::format("the report lacks figures: {}", failure.what()));
    const std::string titles = joined(chosen, ", ", std::mem_fn(&Figure::title));
    views.undrawn.push_back(
        texts({{"what", fmt::format("Not drawn: {}.", titles)}, {"why", std::string(failure.what()) + "."}}));
    return views;
  }
  for (const Figure* figure : chosen) {
    mustache::list pictures;
    for (const auto& [folder, css_class] : {std::pair(&whole, "whole"), std::pair(&narrow, "narrow")}) {
      for (const std::string& svg : pages_of(folder->path(), *figure)) {
        // The address holds the picture: the page needs no other file, and ids of pictures cannot meet.
        const std::string address = "data:image/svg+xml," + url_path(svg);
        pictures.push_back(texts({{"class", css_class}, {"title", figure->title}, {"address", address}}));
      }
    }
    mustache::data view = texts({{"name", figure->name}, {"caption", figure->title}});
    view["pictures"] = mustache::data(pictures);
    views.drawn.push_back(view);
  }
  return views;
}

mustache::list missing_view(const ResultTable& table) {
  mustache::list views;
  for (const auto& run : table.by_stored_run()) {
    const auto missing = std::ranges::find_if_not(run, has_score);
    if (missing == run.end()) continue;
    views.push_back(texts({{"run", (*missing)->id}, {"reason", missing_reason(**missing)}}));
  }
  return views;
}

// `urls` lead to the experiments' folders.
mustache::list configs_view(const ResultTable& table, const std::vector<std::string>& urls) {
  std::map<CellKey, std::vector<const TableRun*>> runs_of;
  for (const TableRun& run : table.runs) runs_of[{run.task, run.encoding}].push_back(&run);
  mustache::list views;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t column = 0; column < table.encodings.size(); ++column) {
      const TaskLabel& task = table.rows[row].task;
      const EncodingLabel& encoding = table.encodings[column];
      const auto found = runs_of.find({task, encoding});
      if (found == runs_of.end()) continue;
      mustache::list runs;
      for (const TableRun* run : found->second) {
        const std::string score =
            run->score ? fmt::format("score {}{}", run->metric.format(*run->score), run->metric.unit())
                       : missing_reason(*run);
        const std::string rate =
            run->config.is_foreign() ? "" : fmt::format(", learning rate {}", run->config.learning_rate);
        runs.push_back(texts({{"run", fmt::format("seed {}{}", run->config.seed, rate)},
                              {"outcome", score},
                              {"folder", fmt::format("{}/runs/{}/", urls[run->experiment], run->id)}}));
      }
      mustache::data view = texts({{"task", task.text()},
                                   {"encoding", encoding.text()},
                                   {"id", config_id(row, column)},
                                   {"yaml", to_yaml(found->second.front()->config)}});
      view["cell_runs"] = mustache::data(runs);
      views.push_back(view);
    }
  }
  return views;
}

}  // namespace

std::string report_html(const ResultTable& table, const ReportLinks& links, const WarningSink& warn) {
  std::vector<std::string> urls;
  for (const std::string& folder : links.folders) urls.push_back(url_path(folder));
  FigureViews figures = figure_views(table, warn);
  mustache::list runs;
  runs.push_back(
      titled_view(run_table(table, {.urls = urls, .reasons = false}), "runs-table", {NoteKind::kProvenance}));
  mustache::data page = texts({{"experiment", table.name},
                               {"tables", url_path(links.tables.value_or(""))},
                               {"style", kReportStyle},
                               {"script", kReportScript}});
  page["has_tables"] = links.tables.has_value();
  page["table"] = mustache::data(mustache::partial([] { return std::string(kReportTable); }));
  page["facts"] = mustache::data(facts_view(table));
  page["scores"] = mustache::data(scores_view(table));
  mustache::list quoted;
  if (!table.quoted.empty()) quoted.push_back(titled_view(quoted_table(table), "quoted-table", {}));
  page["has_quoted"] = !quoted.empty();
  page["quoted"] = mustache::data(quoted);
  page["figures"] = mustache::data(figures.drawn);
  page["undrawn"] = mustache::data(figures.undrawn);
  const mustache::list missing = missing_view(table);
  page["missing"] = mustache::data(missing);
  page["has_missing"] = !missing.empty();
  page["missing_count"] = counted(missing.size(), "run");
  page["runs"] = mustache::data(runs);
  page["configs"] = mustache::data(configs_view(table, urls));
  return render(kReportPage, page);
}

}  // namespace che
