#include "tasks/suite.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/suggestion.h"
#include "tasks/task.h"

namespace che {

std::vector<std::int64_t> Suite::lengths() const {
  std::vector<std::int64_t> lengths;
  lengths.reserve(static_cast<std::size_t>((last_length - first_length) / length_step + 1));
  for (std::int64_t length = first_length; length <= last_length; length += length_step)
    lengths.push_back(length);
  return lengths;
}

const std::vector<Suite>& suites() {
  static const std::vector<Suite> all = {
      {.name = "che-14/v1",
       .summary = "the 14 tasks of Table 2 of the DAPE paper (arXiv 2405.14722), tested at lengths 41 to 500",
       .tasks = {"even_pairs", "modular_arithmetic_simple", "parity_check", "cycle_navigation",
                 "stack_manipulation", "reverse_string", "modular_arithmetic_brackets", "solve_equation",
                 "duplicate_string", "missing_duplicate", "odds_first", "binary_addition", "compute_sqrt",
                 "bucket_sort"}},
      {.name = "nnch-15/v1",
       .summary = "the 15 tasks of Neural Networks and the Chomsky Hierarchy (arXiv 2207.02098), tested at "
                  "lengths 1 to 500",
       .tasks = {"even_pairs", "modular_arithmetic_simple", "parity_check", "cycle_navigation",
                 "stack_manipulation", "reverse_string", "modular_arithmetic_brackets", "solve_equation",
                 "duplicate_string", "missing_duplicate", "odds_first", "binary_addition",
                 "binary_multiplication", "compute_sqrt", "bucket_sort"},
       .first_length = 1},
      {.name = "quick/v1",
       .summary = "the three tasks of configs/quick.yaml, trained on lengths 1 to 16 and tested at ten "
                  "lengths up to 80",
       .tasks = {"even_pairs", "reverse_string", "missing_duplicate"},
       .last_training_length = 16,
       .first_length = 17,
       .last_length = 80,
       .length_step = 7,
       .samples = 256},
      {.name = "regular-4/v1",
       .summary = "the four regular tasks that papers on recurrent and state-space models report, tested at "
                  "lengths 40 to 256",
       .tasks = {"cycle_navigation", "even_pairs", "modular_arithmetic_simple", "parity_check"},
       .first_length = 40,
       .last_length = 256},
  };
  return all;
}

const Suite& find_suite(std::string_view name) {
  const std::vector<Suite>& all = suites();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Suite& suite) { return suite.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const Suite& suite : all) names.push_back(suite.name);
  throw Error(fmt::format("unknown suite '{}'{}", name, known_names_hint(name, names)));
}

}  // namespace che
