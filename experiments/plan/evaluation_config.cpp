#include "experiments/plan/evaluation_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace che {
namespace {

constexpr std::int64_t kMaxSamples = 1'000'000;

}  // namespace

void EvaluationConfig::visit_fields(FieldVisitor& visit) {
  const std::int64_t longest = max_length(of_text);
  static constexpr std::array<std::string_view, 3> kRange = {"first_length", "last_length", "length_step"};
  visit.integer_list({.name = "lengths", .help = "test lengths, in place of a range", .replaces = kRange},
                     listed_lengths, 1, longest);
  std::ranges::sort(listed_lengths);
  if (!of_text) {  // A text's default is a list, which a range could not stand beside.
    const std::string_view list = listed_lengths.empty() ? "" : "lengths";
    visit.integer({.name = kRange[0], .help = "shortest test length", .replaced_by = list}, first_length, 1,
                  longest);
    visit.integer({.name = kRange[1], .help = "longest test length", .replaced_by = list}, last_length, 1,
                  longest);
    visit.integer({.name = kRange[2], .help = "from one test length to the next", .replaced_by = list},
                  length_step, 1, longest);
  }
  visit.integer({"samples", "samples per length, a multiple of 64"}, samples, kEvaluationBatch, kMaxSamples);
  visit.integer({"seed", "of the test samples"}, seed, 0, kMaxSeed);
  visit.boolean({"eval_dropout", "whether dropout stays on in evaluation"}, eval_dropout);
  if (of_text) text.visit_fields(visit);
  visit.role(Role::kExecution);  // They change no score: runs that differ in them share a cell.
  visit.integer_list({"at_steps", "training steps after which the model is evaluated too"}, at_steps, 1,
                     kMaxSteps);
  std::ranges::sort(at_steps);
  if (of_text) return;
  visit.boolean({"predictions", "whether predictions of the test samples are stored"}, predictions);
}

std::vector<std::int64_t> EvaluationConfig::lengths() const {
  std::vector<std::int64_t> lengths = listed_lengths;
  if (!lengths.empty()) return lengths;
  for (std::int64_t length = first_length; length <= last_length; length += length_step)
    lengths.push_back(length);
  return lengths;
}

EvaluationConfig with_exact_lengths(EvaluationConfig evaluation) {
  const std::vector<std::int64_t> lengths = evaluation.lengths();
  if (lengths.empty()) return evaluation;  // A reversed range, which measures nothing.
  evaluation.listed_lengths.clear();
  evaluation.first_length = lengths.front();
  evaluation.last_length = lengths.back();
  evaluation.length_step = lengths.size() == 1 ? 1 : lengths[1] - lengths[0];
  if (evaluation.lengths() != lengths) evaluation.listed_lengths = lengths;
  return evaluation;
}

std::int64_t longest_window(const EvaluationConfig& evaluation) {
  return evaluation.text.longest == 0 ? evaluation.lengths().back() : evaluation.text.longest;
}

std::string lengths_text(const EvaluationConfig& evaluation) {
  const EvaluationConfig exact = with_exact_lengths(evaluation);
  if (!exact.listed_lengths.empty()) return fmt::format("{}", fmt::join(exact.listed_lengths, ", "));
  return fmt::format("{}..{}{}", exact.first_length, exact.last_length,
                     exact.length_step == 1 ? "" : fmt::format(" in steps of {}", exact.length_step));
}

}  // namespace che
