#include "plots/gnuplot/line_style.h"

#include <array>
#include <map>
#include <tuple>

#include "models/settings/encoding_entry.h"

namespace che {
namespace {

// An encoding that is not registered has the colour of an entry without one.
std::string colour_of(std::string_view name) {
  const EncodingEntry* const entry = find_encoding(name);
  return entry != nullptr ? entry->colour : EncodingEntry().colour;
}

const char* dashes(const EncodingForm& form) {
  if (form.randomized) return form.dape ? "(12,4,3,4,3,4)" : "(3,3)";
  return form.dape ? "(10,4)" : "solid";
}

// Open and filled shapes in turn: circle, triangle, square, diamond, inverted triangle.
constexpr std::array<int, 8> kMarkers = {7, 8, 5, 12, 11, 6, 9, 4};

}  // namespace

LineStyle chance_style() { return {.colour = "#777777", .dashes = "(2,5)", .width = 2, .marker = 0}; }

LineStyle position_style() { return {.colour = "#000000", .dashes = "(2,3)", .width = 3, .marker = 0}; }

bool shows_positions(const TableRow& row) {
  constexpr double kNoise = 0.03;
  return row.baselines && row.baselines->position_only.score > row.chance + kNoise;
}

std::vector<LineStyle> line_styles(const std::vector<EncodingLabel>& labels) {
  std::map<std::pair<std::string, std::string>, std::size_t> seen;
  std::vector<LineStyle> styles;
  for (const EncodingLabel& label : labels) {
    LineStyle style{
        .colour = colour_of(label.form.name), .dashes = dashes(label.form), .width = 2, .marker = 0};
    const std::size_t namesakes = seen[{style.colour, style.dashes}]++;
    if (namesakes > 0) {
      style.marker = kMarkers[(namesakes - 1) % kMarkers.size()];
      const std::size_t round = (namesakes - 1) / kMarkers.size();
      style.width += 1.5 * static_cast<double>(round);
    }
    styles.push_back(std::move(style));
  }
  return styles;
}

}  // namespace che
