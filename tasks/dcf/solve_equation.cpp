// The digit that x stands for in an equation modulo 5 of plus, minus and brackets.
//
//   (x+(1-3))=2 -> 4
//   (-x-1)=0 -> 4
#include <algorithm>

#include "tasks/dcf/bracket_expression.h"
#include "tasks/task.h"

namespace che {
namespace {

constexpr BracketSymbols kEquationSymbols{.operators = 2, .open = 7, .close = 8};
constexpr std::uint8_t kUnknown = 9;
constexpr std::uint8_t kEquals = 10;

class SolveEquation : public Task {
 public:
  std::string_view input_symbols() const override { return "01234+-()x="; }
  std::string_view output_symbols() const override { return "01234"; }
  std::int64_t output_length(std::int64_t) const override { return 1; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    if (input.size() < 3) {  // No equation exists.
      std::fill(input.begin(), input.end(), std::uint8_t{0});
      output[0] = 0;
      return;
    }
    const auto expression = input.first(input.size() - 2);
    const std::uint8_t value = draw_bracket_expression(random, kEquationSymbols, expression);
    // As published: the first digit at or after a uniform index, cyclically.
    std::size_t unknown = random.below(expression.size());
    while (expression[unknown] >= kExpressionModulus) {
      unknown = unknown + 1 == expression.size() ? 0 : unknown + 1;
    }
    output[0] = expression[unknown];
    expression[unknown] = kUnknown;
    input[expression.size()] = kEquals;
    input[expression.size() + 1] = value;
  }
};

const Registered<TaskEntry> solve_equation_entry{
    {.name = "solve_equation",
     .level = Level::kDcf,
     .summary = "the unknown digit of a bracketed equation modulo 5",
     .output_length = "1",
     .chance = 0.2,
     .pitfalls = {"Plus, minus and brackets only, modulo 5; the unknown is one symbol of the input."},
     .make = make_task<SolveEquation>}};

}  // namespace
}  // namespace che
