// The value modulo 5 of a fully bracketed expression; minus is also a sign.
//
//   (3*(1+4)) -> 0
//   (-2-4) -> 4
#include "tasks/dcf/bracket_expression.h"
#include "tasks/task.h"

namespace che {
namespace {

constexpr BracketSymbols kSymbols{.operators = 3, .open = 8, .close = 9};

class ModularArithmeticBrackets : public Task {
 public:
  // The letter x is reserved by the published program and never drawn.
  std::string_view input_symbols() const override { return "01234+-*()x"; }
  std::string_view output_symbols() const override { return "01234"; }
  std::int64_t output_length(std::int64_t) const override { return 1; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    output[0] = draw_bracket_expression(random, kSymbols, input);
  }
};

const Registered<TaskEntry> modular_arithmetic_brackets_entry{
    {.name = "modular_arithmetic_brackets",
     .level = Level::kDcf,
     .summary = "value modulo 5 of a bracketed expression",
     .output_length = "1",
     .chance = 0.2,
     .pitfalls = {"Plus, minus and times, and minus as a sign; a copy is known that drops the product."},
     .make = make_task<ModularArithmeticBrackets>}};

}  // namespace
}  // namespace che
