// The value modulo 5 of an expression without brackets, products first.
//
//   1+2*4 -> 4
//   0-3 -> 2
#include <array>

#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

constexpr std::uint32_t kModulus = 5;
constexpr std::uint32_t kFirstOperator = 5;  // plus, minus, times
// An operator and the digit behind it, drawn as one: modulus * operator + digit.
constexpr std::uint32_t kOperations = 3 * kModulus;
constexpr std::uint32_t kFirstTimes = 2 * kModulus;

// The last term modulo 5, after an operation: times goes on with the term, plus and minus start one.
constexpr auto kNextTerm = [] {
  std::array<std::array<std::uint8_t, kOperations>, kModulus> next{};
  for (std::uint32_t term = 0; term < kModulus; ++term) {
    for (std::uint32_t digit = 0; digit < kModulus; ++digit) {
      next[term][digit] = static_cast<std::uint8_t>(digit);
      next[term][kModulus + digit] = static_cast<std::uint8_t>((kModulus - digit) % kModulus);
      next[term][kFirstTimes + digit] = static_cast<std::uint8_t>(term * digit % kModulus);
    }
  }
  return next;
}();

class ModularArithmeticSimple : public Task {
 public:
  // The blank is reserved by the published program and never drawn.
  std::string_view input_symbols() const override { return "01234+-*_"; }
  std::string_view output_symbols() const override { return "01234"; }
  // Digits and operators alternate, so that an expression has an odd number of symbols.
  std::int64_t input_length(std::int64_t length) const override { return length - (length + 1) % 2; }
  std::int64_t output_length(std::int64_t) const override { return 1; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    input[0] = static_cast<std::uint8_t>(random.below(kModulus));
    UniformDigits<kOperations> operation(random);
    std::uint64_t sum = 0;  // The sum of the finished terms, each in 0 .. 4.
    std::size_t term = input[0];
    for (std::size_t i = 1; i < input.size(); i += 2) {
      const std::uint32_t drawn = operation();
      input[i] = static_cast<std::uint8_t>(kFirstOperator + drawn / kModulus);
      input[i + 1] = static_cast<std::uint8_t>(drawn % kModulus);
      // A table and no branches, which would be mispredicted.
      sum += drawn < kFirstTimes ? term : 0;
      term = kNextTerm[term][drawn];
    }
    output[0] = static_cast<std::uint8_t>((sum + term) % kModulus);
  }
};

const Registered<TaskEntry> modular_arithmetic_simple_entry{
    {.name = "modular_arithmetic_simple",
     .level = Level::kRegular,
     .summary = "value modulo 5 of an expression without brackets",
     .output_length = "1",
     .chance = 0.2,
     .pitfalls =
         {"An expression has an odd number of symbols: an even length gives strings of one symbol less.",
          "Products come first; evaluating from left to right is another task."},
     .make = make_task<ModularArithmeticSimple>}};

}  // namespace
}  // namespace che
