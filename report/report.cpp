#include "report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "plots/figure_files.h"
#include "plots/figures.h"
#include "report/html_table.h"
#include "tables/agreement_table.h"
#include "tables/result_notes.h"
#include "tables/run_table.h"
#include "tables/score_table.h"

namespace che {

// report.css and report.js, built into the program.
extern const char* const kReportStyle;
extern const char* const kReportScript;

namespace {

struct Section {
  std::string id;
  std::string title;
  std::string html;
};

// Of all runs, each value once.
template <class Value>
std::string distinct(const ResultTable& table, Value value) {
  std::set<std::string> values;
  for (const TableRun& run : table.runs) {
    if (std::string text = value(run); !text.empty()) values.insert(std::move(text));
  }
  return values.empty() ? "unknown" : fmt::format("{}", fmt::join(values, ", "));
}

std::string fact(std::string_view name, const std::string& value) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", html_text(name), html_text(value));
}

std::string provenance(const ResultTable& table) {
  std::size_t finished = 0;
  double seconds = 0;
  std::string first, last;
  for (const TableRun& run : table.runs) {
    const RunStatus& status = run.status;
    finished += run.score ? 1U : 0U;
    seconds += status.training_seconds + status.evaluation_seconds;
    if (!status.started.empty() && (first.empty() || status.started < first)) first = status.started;
    last = std::max(last, status.updated);
  }
  const auto known = [](const std::string& text) { return text.empty() ? std::string("unknown") : text; };
  std::string html = "<table class=\"facts\"><tbody>\n";
  html += fact("Runs", fmt::format("{}, {} of them finished", table.runs.size(), finished));
  for (const std::string& note : provenance_notes(table)) {
    const std::size_t colon = note.find(": ");
    html += fact(note.substr(0, colon), note.substr(colon + 2));
  }
  html += fact("Program",
               fmt::format("che {}, LibTorch {}",
                           distinct(table, [](const TableRun& run) { return run.status.version; }),
                           distinct(table, [](const TableRun& run) { return run.status.torch_version; })));
  html += fact("Hosts", distinct(table, [](const TableRun& run) { return run.status.host; }));
  html += fact("Time", fmt::format("{} .. {}, {:.1f} hours of training and evaluation over all runs (a job's "
                                   "time counts for each of its runs)",
                                   known(first), known(last), seconds / 3600));
  return html + "</tbody></table>\n";
}

bool has_spread(const ResultTable& table) {
  return std::ranges::any_of(
      table.cells, [](const auto& cell) { return cell.second.scores && cell.second.scores->n > 1; });
}

// The tables of scores; what their notes share with the provenance is left out.
std::string scores(const ResultTable& table, const ReportLinks& links) {
  const std::size_t shared = provenance_notes(table).size();
  const auto html = [&](const ScoreTableOptions& options, const std::string& id) {
    Table scores = score_table(table, options);
    scores.printed.notes.resize(scores.printed.notes.size() - shared);
    return "<h3>" + html_text(scores.title) + "</h3>\n" + html_table(scores.printed, id);
  };
  std::string text =
      html({.aggregate = Aggregate::kMax, .paper = true, .difference = true, .spread = false}, "scores");
  if (has_spread(table)) {
    text +=
        html({.aggregate = Aggregate::kMean, .paper = false, .difference = false, .spread = true}, "means");
  }
  if (const PaperAgreement agreed = agree(table, Aggregate::kMax); agreed.ranked > 0) {
    Table agreement = agreement_table(agreed, table);
    // What the paper's values are stands below the scores.
    agreement.printed.notes.resize(agreement.printed.notes.size() - shared - 1);
    text += "<h3>" + html_text(agreement.title) + "</h3>\n" + html_table(agreement.printed, "agreement");
  }
  return text +
         fmt::format("<p>Unrounded, with every aggregate: <a href=\"{}/table.csv\">table.csv</a></p>\n",
                     html_text(links.folder));
}

// gnuplot's SVG as an element of a page that holds several: ids of its own, and no prologue.
std::string inline_svg(std::string svg, const Figure& figure) {
  const auto replace = [&svg](const std::string& text, const std::string& by) {
    for (std::size_t at = 0; (at = svg.find(text, at)) != std::string::npos; at += by.size()) {
      svg.replace(at, text.size(), by);
    }
  };
  svg.erase(0, svg.find("<svg"));
  for (const std::string id : {"gpDot", "gpPt", "gnuplot_", "textbox", "greybox"}) {
    replace("id='" + id, "id='" + figure.name + id);
    replace("id=\"" + id, "id=\"" + figure.name + id);
    replace("'#" + id, "'#" + figure.name + id);
  }
  replace("<title>Gnuplot</title>", "<title>" + html_text(figure.title) + "</title>");
  return svg;
}

std::string drawn(const ResultTable& table) {
  std::string html;
  for (const Figure* figure : drawable_figures(table)) {
    const auto script = [&](std::string_view format, const std::filesystem::path& file) {
      return figure->script(table, Aggregate::kMax, format, file);
    };
    const std::string svg = inline_svg(figure_bytes("svg", script), *figure);
    html += fmt::format("<figure id=\"figure-{}\">\n<figcaption>{}</figcaption>\n{}\n</figure>\n",
                        figure->name, html_text(figure->title), svg);
  }
  return html.empty() ? "<p>No run has finished.</p>\n" : html;
}

std::string missing(const ResultTable& table) {
  std::string items;
  for (const TableRun& run : table.runs) {
    if (run.score) continue;
    items += fmt::format("<li><code>{}</code>: {}</li>\n", html_text(run.id), html_text(missing_reason(run)));
  }
  return items.empty() ? "<p>Every run has a score.</p>\n" : "<ul>\n" + items + "</ul>\n";
}

std::string runs(const ResultTable& table, const ReportLinks& links) {
  Table all = run_table(table);
  all.printed.notes.resize(all.printed.notes.size() - provenance_notes(table).size());
  all.printed.footnotes.clear();
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    PrintedRow& row = all.printed.rows[i];
    for (PrintedCell& cell : row.cells) cell.footnote = 0;
    const std::string folder = fmt::format("{}/runs/{}", links.folder, table.runs[i].id);
    row.cells[1].link = folder + "/";
    if (!table.runs[i].metrics.empty()) row.cells[7].link = folder + "/metrics.csv";
    if (table.runs[i].score) row.cells.back().link = folder + "/evaluation.csv";
  }
  return html_table(all.printed, "runs-table") +
         fmt::format(
             "<p>All runs: <a href=\"{}/runs.csv\">runs.csv</a>. An encoding leads to the run's folder, a "
             "loss to its metrics.csv, a score to its evaluation.csv.</p>\n",
             html_text(links.folder));
}

std::string configs(const ResultTable& table) {
  std::string html = "<p>Each with the seed and learning rate of its first run.</p>\n";
  for (const TableRow& row : table.rows) {
    for (const std::string& encoding : table.encodings) {
      const TableRun* first = nullptr;
      std::vector<std::string> others;
      for (const TableRun& run : table.runs) {
        if (run.task != row.task || run.encoding != encoding) continue;
        if (first == nullptr) first = &run;
        others.push_back(fmt::format("seed {} rate {}", run.config.seed, run.config.learning_rate));
      }
      if (first == nullptr) continue;
      html += fmt::format("<details><summary>{}, {}</summary><p>Runs: {}</p><pre>{}</pre></details>\n",
                          html_text(row.task), html_text(encoding),
                          html_text(fmt::format("{}", fmt::join(others, "; "))),
                          html_text(to_yaml(first->config)));
    }
  }
  return html;
}

}  // namespace

std::string report_html(const ResultTable& table, const ReportLinks& links) {
  const ReportLinks urls{.folder = url_path(links.folder)};
  const std::vector<Section> sections = {{"provenance", "Provenance", provenance(table)},
                                         {"score-tables", "Scores", scores(table, urls)},
                                         {"figures", "Figures", drawn(table)},
                                         {"missing", "Runs without a score", missing(table)},
                                         {"runs", "Runs", runs(table, urls)},
                                         {"configs", "Configs", configs(table)}};
  const std::string name = html_text(table.name);
  // The policy forbids every connection.
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}: results</title>\n<style>\n{1}</style>\n</head>\n<body>\n"
      "<h1>Results of the experiment {0}</h1>\n<nav>",
      name, kReportStyle);
  for (const Section& section : sections) {
    html += fmt::format("<a href=\"#{}\">{}</a>", section.id, section.title);
  }
  html += "</nav>\n";
  for (const Section& section : sections) {
    html += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", section.id, section.title,
                        section.html);
  }
  return html + fmt::format("<script>\n{}</script>\n</body>\n</html>\n", kReportScript);
}

}  // namespace che
