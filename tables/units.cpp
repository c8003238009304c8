#include "tables/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace che {
namespace {

// By Metric::Source.
constexpr std::array<const char*, 4> kUnits = {"", "perplexities", "bits of a prediction",
                                               "nats of a prediction"};

const char* unit_of(const Metric& metric) { return kUnits.at(static_cast<std::size_t>(metric.source)); }

}  // namespace

std::string score_units(const ResultTable& table, std::string_view of_accuracies) {
  const auto other = std::ranges::find_if(
      table.rows, [](const TableRow& row) { return row.metric.source != Metric::Source::kAccuracy; });
  if (other == table.rows.end()) return fmt::format("Accuracies and scores are {}", of_accuracies);
  return fmt::format("Accuracies are {}, scores {} {}", of_accuracies,
                     other->level == Level::kText ? "of texts" : "are", unit_of(other->metric));
}

std::string difference_units(const std::set<Metric::Source>& sources, bool plain) {
  std::string text;
  for (const Metric::Source source : sources) {
    const bool is_accuracy = source == Metric::Source::kAccuracy;
    if (is_accuracy && plain) text = "Scores and differences are fractions of 1.";
    if (is_accuracy && !plain) text = "Scores in percent, differences in points.";
    if (is_accuracy) continue;
    text += fmt::format("{} are {}.", text.empty() ? "Scores and differences" : " Those of texts",
                        unit_of({.source = source}));
  }
  return text;
}

}  // namespace che
