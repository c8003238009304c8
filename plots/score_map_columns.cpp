#include "plots/score_map_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "experiments/published/paper_table.h"

namespace che {
namespace {

// "4800", "200k"
std::string steps_text(std::int64_t steps) {
  return steps >= 10'000 && steps % 1000 == 0 ? fmt::format("{}k", steps / 1000) : fmt::format("{}", steps);
}

// Width, steps and test lengths of the runs: "width 64, 2000 steps, lengths 17-80".
std::string settings_of(const ResultTable& table) {
  std::set<std::int64_t> widths;
  std::set<std::string> steps;
  std::set<std::string> lengths;
  for (const TableRun& run : table.runs) {
    if (!run.score) continue;
    if (!run.config.is_foreign()) {
      widths.insert(run.config.model.width);
      steps.insert(steps_text(run.config.training.steps));
    }
    const std::vector<std::int64_t> tested = run.config.evaluation.lengths();
    lengths.insert(fmt::format("{}-{}", tested.front(), tested.back()));
  }
  std::string tested = fmt::format("lengths {}", fmt::join(lengths, "/"));
  if (widths.empty()) return tested;
  return fmt::format("width {}, {} steps, {}", fmt::join(widths, "/"), fmt::join(steps, "/"), tested);
}

// Of each of the paper's columns the first of ours, among those that are shown, that can be compared with it.
std::map<EncodingForm, EncodingLabel> compared_with(const ResultTable& table,
                                                    const std::vector<ScoreMap>& ours) {
  std::map<EncodingForm, EncodingLabel> compared;
  for (const ScoreMap& part : ours) {
    for (const EncodingLabel& encoding : part.encodings) {
      for (const TableRow& row : table.rows) {
        const TableCell* const cell = table.cell(row.task, encoding);
        if (cell != nullptr && cell->paper && cell->paper->is_comparable) {
          compared.emplace(cell->paper->column, encoding);
        }
      }
    }
  }
  return compared;
}

}  // namespace

std::vector<ScoreMap> score_maps(const ResultTable& table, Aggregate aggregate) {
  ScoreMap ours{.title = {"ours", settings_of(table)}, .encodings = {}, .cell = {}};
  ours.cell = [&table, aggregate](const TableRow& row,
                                  const EncodingLabel& encoding) -> std::optional<MapCell> {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell == nullptr || !cell->scores) return std::nullopt;
    return MapCell{.score = cell->scores->value(aggregate), .did_not_train = cell->did_not_train(aggregate)};
  };
  ScoreMap papers{.title = {"paper (DAPE, Table 2)",
                            fmt::format("width 256, {} steps, lengths 41-500", steps_text(200'000))},
                  .encodings = {},
                  .cell = {}};
  papers.cell = [](const TableRow& row, const EncodingLabel& encoding) -> std::optional<MapCell> {
    if (!row.task.settings.empty()) return std::nullopt;
    const std::optional<double> score = paper_score(row.task.name, encoding.form);
    return score ? std::optional(MapCell{.score = *score}) : std::nullopt;
  };
  const auto drop_empty = [&](ScoreMap& map) {
    std::erase_if(map.encodings, [&](const EncodingLabel& encoding) {
      return std::ranges::none_of(table.rows,
                                  [&](const TableRow& row) { return map.cell(row, encoding).has_value(); });
    });
  };
  ours.encodings = table.encodings;
  drop_empty(ours);
  const std::map<EncodingForm, EncodingLabel> compared = compared_with(table, {ours});
  for (const PaperColumn& column : paper_columns()) {
    if (compared.contains(column.form)) papers.encodings.push_back({.form = column.form});
  }
  drop_empty(papers);
  std::vector<ScoreMap> maps;
  for (ScoreMap* const map : {&ours, &papers}) {
    if (!map->encodings.empty()) maps.push_back(std::move(*map));
  }
  return maps;
}

Lines continued_title(const Lines& title) { return {title.front() + ", continued"}; }

std::vector<ScoreMap> stacked_maps(const std::vector<ScoreMap>& ours, const ScoreMap& papers,
                                   const ResultTable& table) {
  const std::map<EncodingForm, EncodingLabel> compared = compared_with(table, ours);
  std::vector<ScoreMap> maps;
  bool is_first = true;
  for (const ScoreMap& part : ours) {
    maps.push_back(part);
    ScoreMap below{
        .title = papers.title, .encodings = {}, .cell = papers.cell, .columns = part.encodings.size()};
    for (std::size_t place = 0; place < part.encodings.size(); ++place) {
      for (const EncodingLabel& column : papers.encodings) {
        const auto found = compared.find(column.form);
        if (found == compared.end() || found->second != part.encodings[place]) continue;
        below.encodings.push_back(column);
        below.places.push_back(place);
      }
    }
    if (below.encodings.empty()) continue;
    if (!is_first) below.title = continued_title(papers.title);
    is_first = false;
    maps.push_back(std::move(below));
  }
  return maps;
}

}  // namespace che
