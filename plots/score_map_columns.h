#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/results/result_table.h"

namespace che {

// A text, in lines.
using Lines = std::vector<std::string>;

// What a cell of a map shows.
struct MapCell {
  double score = 0;  // 0 .. 1
  bool did_not_train = false;
};

// One map: a cell for each task and encoding that has one.
struct ScoreMap {
  Lines title;
  std::vector<EncodingLabel> encodings;
  std::function<std::optional<MapCell>(const TableRow&, const EncodingLabel&)> cell;
  // Where each encoding stands, ascending, in a map of so many columns; all of them one after the other
  // unless given.
  std::vector<std::size_t> places = {};
  std::size_t columns = 0;

  std::size_t place(std::size_t encoding) const { return places.empty() ? encoding : places[encoding]; }
  std::size_t width() const { return places.empty() ? encodings.size() : columns; }
};

// The scores of the table, and the paper's where it has a column that one of ours with a score can be
// compared with.
std::vector<ScoreMap> score_maps(const ResultTable& table, Aggregate aggregate);

// The title of what goes on below.
Lines continued_title(const Lines& title);

// Maps to stand one below the other: below each part of ours the paper's columns that belong to it, each in
// the place of the first of ours that it can be compared with.
std::vector<ScoreMap> stacked_maps(const std::vector<ScoreMap>& ours, const ScoreMap& papers,
                                   const ResultTable& table);

}  // namespace che
