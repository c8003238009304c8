#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "workloads/text_config.h"

namespace che {

// The limits of seeds, lengths and steps in configs. Models of texts are tested at greater lengths than tasks
// have.
inline constexpr std::int64_t kMaxSeed = std::int64_t{1} << 53;
inline constexpr std::int64_t kMaxTaskLength = 10'000;
inline constexpr std::int64_t kMaxTextLength = 1'000'000;
constexpr std::int64_t max_length(bool of_text) { return of_text ? kMaxTextLength : kMaxTaskLength; }
inline constexpr std::int64_t kMaxSteps = 4'000'000'000;

struct EvaluationConfig {
  std::int64_t first_length = 41;  // The released program's slice begins at 42.
  std::int64_t last_length = 500;
  std::int64_t length_step = 1;
  std::int64_t samples = 512;  // Per length; a multiple of kEvaluationBatch.
  std::int64_t seed = 0;
  bool eval_dropout = false;  // The released program has true.
  // Test lengths that need not follow a range, ascending; the three above mean nothing where there are some.
  std::vector<std::int64_t> listed_lengths = {};
  // Steps of training after which the model is evaluated too, ascending.
  std::vector<std::int64_t> at_steps = {};
  bool predictions = false;  // Whether the run's predictions of its test samples are stored.
  bool of_text = false;      // Whether `text` holds; RunConfig sets it.
  TextEvaluation text = {};

  void visit_fields(FieldVisitor& visit);
  std::vector<std::int64_t> lengths() const;  // Ascending.
};

// Returns the same evaluation in the one way of writing that all evaluations at these test lengths share. Its
// last length is one that is measured, a single length has step 1, and a list with even steps is a range.
// 17..80 in steps of 30 and [17, 47, 77] become 17..77.
EvaluationConfig with_exact_lengths(EvaluationConfig evaluation);

// The length up to which aligned windows of a text fit into their documents.
std::int64_t longest_window(const EvaluationConfig& evaluation);

// "17..77 in steps of 30", "50, 100, 200, 400".
std::string lengths_text(const EvaluationConfig& evaluation);

// Samples that one evaluation batch holds (and one draw of randomized positions serves).
inline constexpr std::int64_t kEvaluationBatch = 64;

}  // namespace che
