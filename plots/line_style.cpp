#include "plots/line_style.h"

#include <array>
#include <map>
#include <tuple>

#include "experiments/display_order.h"

namespace che {
namespace {

// By encoding_rank: none, learned, sin_cos, rope, relative, alibi, kerple, fire, t5, cope, others.
constexpr std::array<const char*, kUnknownRank + 1> kColours = {"#000000", "#999999", "#56B4E9", "#0072B2",
                                                                "#009E73", "#D55E00", "#E69F00", "#CC79A7",
                                                                "#8F8A00", "#7A4B2A", "#5B3A8C"};

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
  return row.baselines && row.baselines->position_only > row.chance + kNoise;
}

std::vector<LineStyle> line_styles(const std::vector<std::string>& labels) {
  std::map<std::pair<const char*, const char*>, std::size_t> seen;
  std::vector<LineStyle> styles;
  for (const std::string& label : labels) {
    const EncodingForm form = encoding_form(label);
    LineStyle style{
        .colour = kColours[encoding_rank(form.name)], .dashes = dashes(form), .width = 2, .marker = 0};
    const std::size_t namesakes = seen[{kColours[encoding_rank(form.name)], dashes(form)}]++;
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
