// The sum of two binary numbers, all least significant bit first unless asked otherwise.
//
//   01+11 -> 101.
//   1+001 -> 101.
#include <algorithm>

#include "tasks/cs/binary_number.h"
#include "tasks/task.h"

namespace che {
namespace {

// Writes the sum into the first max(p, q) + 1 elements of `sum`, for p and q bits; returns that size.
std::size_t add(const Operands& operands, std::span<std::uint8_t> sum) {
  const bool first_is_longer = operands.first.size() > operands.second.size();
  const auto longer = first_is_longer ? operands.first : operands.second;
  const auto shorter = first_is_longer ? operands.second : operands.first;
  unsigned carry = 0;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    carry += longer[i] + (i < shorter.size() ? shorter[i] : 0U);
    sum[i] = carry & 1;
    carry >>= 1;
  }
  sum[longer.size()] = static_cast<std::uint8_t>(carry);
  return longer.size() + 1;
}

class BinaryAddition : public Task {
 public:
  explicit BinaryAddition(const BitOrderOptions& options)
      : most_significant_first_(options.bit_order == BitOrder::kMostFirst) {}

  std::string_view input_symbols() const override { return "01+"; }
  std::string_view output_symbols() const override { return "01."; }
  std::int64_t output_length(std::int64_t length) const override { return length + 1; }
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
    if (operands.second.empty()) {  // As published: the number itself.
      std::copy(input.begin(), input.end(), output.begin());
      terminate_number(output, input.size());
      return;
    }
    terminate_number(output, add(operands, output));
  }

  bool most_significant_first_;
};

const Registered<TaskEntry> binary_addition_entry{
    {.name = "binary_addition",
     .level = Level::kCs,
     .summary = "sum of two binary numbers, least significant bit first",
     .output_length = "L + 1",
     .chance = 0.5,
     .pitfalls = {kLeastFirstPitfall, kTerminatorPitfall},
     .options = BitOrderOptions(),
     .make = make_task<BinaryAddition, BitOrderOptions>}};

}  // namespace
}  // namespace che
