#include "experiments/display_order.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "core/field_text.h"

namespace che {
namespace {

constexpr std::array<std::string_view, kUnknownRank> kEncodings = {
    "none", "learned", "sin_cos", "rope", "relative", "alibi", "kerple", "fire", "t5", "cope"};

constexpr std::array<std::string_view, 3> kLevels = {"regular", "dcf", "cs"};

constexpr std::array<std::string_view, 15> kTasks = {"even_pairs",
                                                     "modular_arithmetic_simple",
                                                     "parity_check",
                                                     "cycle_navigation",
                                                     "stack_manipulation",
                                                     "reverse_string",
                                                     "modular_arithmetic_brackets",
                                                     "solve_equation",
                                                     "duplicate_string",
                                                     "missing_duplicate",
                                                     "odds_first",
                                                     "binary_addition",
                                                     "compute_sqrt",
                                                     "bucket_sort",
                                                     "binary_multiplication"};

// Index of `word`, or the number of words.
template <std::size_t N>
std::size_t rank(const std::array<std::string_view, N>& words, std::string_view word) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

}  // namespace

EncodingForm encoding_form(std::string_view label) {
  EncodingForm form;
  form.randomized = take_prefix(label, "randomized_");
  form.dape = take_prefix(label, "dape_");
  const std::size_t open = label.find('(');
  form.name = label.substr(0, open);
  if (open != std::string_view::npos) form.settings = label.substr(open + 1, label.size() - open - 2);
  return form;
}

std::size_t encoding_rank(std::string_view name) { return rank(kEncodings, name); }

bool encoding_before(std::string_view one, std::string_view other) {
  const auto key = [](const EncodingForm& form) {
    return std::tuple(form.randomized, form.dape, encoding_rank(form.name), std::string_view(form.name));
  };
  const EncodingForm first = encoding_form(one);
  const EncodingForm second = encoding_form(other);
  if (key(first) != key(second)) return key(first) < key(second);
  // Numbers by value: hidden=4 before hidden=16.
  return ::strverscmp(first.settings.c_str(), second.settings.c_str()) < 0;
}

bool task_before(const TaskPlace& one, const TaskPlace& other) {
  const auto key = [](const TaskPlace& place) {
    return std::tuple(rank(kLevels, place.level), rank(kTasks, place.name), place.name, place.label);
  };
  return key(one) < key(other);
}

}  // namespace che
