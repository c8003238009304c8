#include "tasks/task_card.h"

#include <fmt/format.h>

#include <map>

#include "core/error.h"

namespace che {
namespace {

constexpr const char* kSource = "Neural Networks and the Chomsky Hierarchy, arXiv 2207.02098";
constexpr const char* kBibtex = R"(@inproceedings{deletang2023neural,
  title     = {Neural Networks and the {Chomsky} Hierarchy},
  author    = {Del{\'e}tang, Gr{\'e}goire and Ruoss, Anian and Grau-Moya, Jordi and Genewein, Tim and
               Wenliang, Li Kevin and Catt, Elliot and Cundy, Chris and Hutter, Marcus and Legg, Shane and
               Veness, Joel and Ortega, Pedro A.},
  booktitle = {International Conference on Learning Representations},
  year      = {2023},
  url       = {https://arxiv.org/abs/2207.02098}
})";
constexpr const char* kTerminator =
    "The output ends at a terminator; what follows is padding, which accuracy does not count. A copy that "
    "pads "
    "with a digit and counts it measures another task.";
constexpr const char* kLeastFirst =
    "Numbers have their least significant bit first, as in the released program; bit_order: most_first gives "
    "the "
    "order of the DAPE paper's example.";

std::map<std::string, TaskCard, std::less<>> make_cards() {
  const std::map<std::string, std::vector<std::string>> pitfalls = {
      {"binary_addition", {kLeastFirst, kTerminator}},
      {"binary_multiplication", {kLeastFirst, kTerminator}},
      {"bucket_sort", {"Five digits only, so that counting them suffices."}},
      {"compute_sqrt",
       {"The floor of the root, as in the released program; rounding: nearest gives that of the DAPE paper's "
        "example."}},
      {"cycle_navigation",
       {"Moves are shown as -, 0 and +; the DAPE paper's example has the digits 0, 1, 2 for stay, forward "
        "and "
        "back."}},
      {"duplicate_string",
       {"The output is exactly twice the input; the DAPE paper's example lacks a letter."}},
      {"even_pairs",
       {"1 where the number of neighbours that differ is odd, that is, where the first and the last symbol "
        "differ; the DAPE paper's example has the opposite sign."}},
      {"missing_duplicate",
       {"An odd length ends in padding, a symbol of its own: padding with 0 or 1 changes the task."}},
      {"modular_arithmetic_brackets",
       {"Plus, minus and times, and minus as a sign; a copy is known that drops the product."}},
      {"modular_arithmetic_simple",
       {"An expression has an odd number of symbols: an even length gives strings of one symbol less.",
        "Products come first; evaluating from left to right is another task."}},
      {"odds_first",
       {"Even positions first, counted from 0, as the released program emits; order: odd_first gives the "
        "published description."}},
      {"parity_check",
       {"Bits, and 0 for an even number of ones; the DAPE paper's example has letters.",
        "It does not depend on the order of the input."}},
      {"reverse_string", {"The output has no terminator: its length is that of the input."}},
      {"solve_equation",
       {"Plus, minus and brackets only, modulo 5; the unknown is one symbol of the input."}},
      {"stack_manipulation",
       {kTerminator, "The output is the stack from top to bottom, the input gives it from bottom to top."}},
  };
  std::map<std::string, TaskCard, std::less<>> cards;
  for (const auto& [task, sentences] : pitfalls) {
    cards[task] = {.source = kSource,
                   .bibtex = kBibtex,
                   .pitfalls = sentences,
                   .changes = {"the distribution of the released program, by test"}};
  }
  return cards;
}

}  // namespace

const TaskCard& task_card(std::string_view task) {
  static const std::map<std::string, TaskCard, std::less<>> cards = make_cards();
  const auto found = cards.find(task);
  if (found == cards.end()) throw Error(fmt::format("the task {} has no card", task), ErrorKind::kRuntime);
  return found->second;
}

}  // namespace che
