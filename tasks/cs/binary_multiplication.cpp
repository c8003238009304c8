// The product of two binary numbers, all least significant bit first unless asked otherwise.
//
//   01*11 -> 011.
//   11*110 -> 1001.
#include <algorithm>

#include "tasks/cs/binary_number.h"
#include "tasks/task.h"

namespace che {
namespace {

class BinaryMultiplication : public Task {
 public:
  explicit BinaryMultiplication(const BitOrderOptions& options)
      : most_significant_first_(options.bit_order == BitOrder::kMostFirst) {}

  std::string_view input_symbols() const override { return "01*"; }
  std::string_view output_symbols() const override { return "01."; }
  std::int64_t output_length(std::int64_t length) const override { return length; }
  bool ends_at_terminator() const override { return true; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    draw(random, input, output);
    if (most_significant_first_) reverse_numbers(input, output);
  }

 private:
  // Least significant bit first.
  static void draw(RandomStream& random, std::span<std::uint8_t> input, std::span<std::uint8_t> output) {
    const Operands operands = draw_operands(random, input);
    if (operands.second.empty()) {  // As published: a product of zero in L - 1 bits, whatever the number.
      std::fill(output.begin(), output.end(), std::uint8_t{0});
      output.back() = kTerminator;
      return;
    }
    const std::size_t bits = operands.first.size() + operands.second.size();
    multiply(operands.first, operands.second, output.first(bits));
    terminate_number(output, bits);
  }

  bool most_significant_first_;
};

const Registered<TaskEntry> binary_multiplication_entry{
    {.name = "binary_multiplication",
     .level = Level::kCs,
     .summary = "product of two binary numbers, least significant bit first",
     .output_length = "L",
     .chance = 0.5,
     .pitfalls = {kLeastFirstPitfall, kTerminatorPitfall},
     .options = BitOrderOptions(),
     .make = make_task<BinaryMultiplication, BitOrderOptions>}};

}  // namespace
}  // namespace che
