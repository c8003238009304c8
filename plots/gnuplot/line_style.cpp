#include "plots/gnuplot/line_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "models/settings/encoding_entry.h"

namespace che {
namespace {

// gnuplot's number of a shape.
int point_type(Marker marker) {
  switch (marker) {
    case Marker::kNone:
      return 0;
    case Marker::kPlus:
      return 1;
    case Marker::kCross:
      return 2;
    case Marker::kSquare:
      return 4;
    case Marker::kFullSquare:
      return 5;
    case Marker::kCircle:
      return 6;
    case Marker::kDisc:
      return 7;
    case Marker::kTriangle:
      return 8;
    case Marker::kFullTriangle:
      return 9;
    case Marker::kDownTriangle:
      return 10;
    case Marker::kFullDownTriangle:
      return 11;
    case Marker::kDiamond:
      return 12;
    case Marker::kFullDiamond:
      return 13;
    case Marker::kPentagon:
      return 14;
    case Marker::kFullPentagon:
      return 15;
  }
  return 0;
}

// What the scores of predictors without the input may pass chance by.
constexpr double kNoise = 0.03;

// What an encoding that is not registered looks like.
const EncodingEntry& unknown_encoding() {
  static const EncodingEntry entry;
  return entry;
}

const char* dashes(const EncodingForm& form) {
  if (form.randomized) return form.dape ? "(12,4,3,4,3,4)" : "(3,3)";
  return form.dape ? "(10,4)" : "solid";
}

// Open and filled shapes in turn, for labels that differ in settings only.
constexpr std::array<Marker, 8> kOtherMarkers = {
    Marker::kDisc,   Marker::kTriangle,     Marker::kFullSquare, Marker::kDiamond, Marker::kFullDownTriangle,
    Marker::kCircle, Marker::kFullTriangle, Marker::kSquare};

// The shape of the label that has so many namesakes before it, and how often the shapes were used up by then.
std::pair<Marker, std::size_t> marker_after(Marker own, std::size_t namesakes) {
  if (namesakes == 0) return {own, 0};
  std::vector<Marker> others;
  std::ranges::copy_if(kOtherMarkers, std::back_inserter(others), [&](Marker other) { return other != own; });
  return {others[(namesakes - 1) % others.size()], (namesakes - 1) / others.size()};
}

}  // namespace

LineStyle chance_style() { return {.colour = "#777777", .dashes = "(2,5)", .width = 2, .marker = 0}; }

LineStyle position_style() { return {.colour = "#000000", .dashes = "(2,3)", .width = 3, .marker = 0}; }

bool shows_positions(const TableRow& row) {
  return row.baselines && row.baselines->position_only.score > row.chance + kNoise;
}

std::string positions_caption() {
  return fmt::format(
      " Position only: the most frequent symbol of each output position, without the input; drawn where it "
      "scores over {:g} points above chance.",
      100 * kNoise);
}

std::vector<LineStyle> line_styles(const std::vector<EncodingLabel>& labels) {
  std::map<EncodingForm, std::size_t> seen;
  std::vector<LineStyle> styles;
  for (const EncodingLabel& label : labels) {
    const EncodingEntry* const known = find_encoding(label.form.name);
    const EncodingEntry& entry = known != nullptr ? *known : unknown_encoding();
    // Models that are not registered look like namesakes.
    const EncodingForm form = known != nullptr ? label.form : EncodingForm{};
    const auto [marker, rounds] = marker_after(entry.marker, seen[form]++);
    styles.push_back({.colour = entry.colour,
                      .dashes = dashes(label.form),
                      .width = 2 + 1.5 * static_cast<double>(rounds),
                      .marker = point_type(marker)});
  }
  return styles;
}

}  // namespace che
