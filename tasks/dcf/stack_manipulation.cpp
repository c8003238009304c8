// A stack after a list of actions: the input is the stack from bottom to top, then pop (-), push a
// (A), push b (B); the output is the stack from top to bottom. A pop of an empty stack does nothing.
//
//   abb-A -> aba.
//   b--B -> b.
#include <algorithm>

#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

constexpr std::uint8_t kPop = 2;
constexpr std::uint8_t kPushFirst = 3;

class StackManipulation : public Task {
 public:
  std::string_view input_symbols() const override { return "ab-AB"; }
  std::string_view output_symbols() const override { return "ab."; }
  std::int64_t output_length(std::int64_t length) const override { return length + 1; }
  bool ends_at_terminator() const override { return true; }

  void sample(RandomStream& random, std::int64_t length, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    const auto bound = static_cast<std::uint64_t>(length - 1);
    const std::size_t initial = length == 1 ? 1 : 1 + random.below(bound);
    const auto stack = input.first(initial);
    const auto actions = input.subspan(initial);
    fill_uniform_bits(random, stack);
    fill_uniform<3>(random, actions, kPop);

    // The output is the stack from bottom to top until it is reversed.
    std::copy(stack.begin(), stack.end(), output.begin());
    std::size_t height = initial;
    for (const std::uint8_t action : actions) {
      const bool pop = action == kPop;
      // A pop writes above the stack; that is overwritten later.
      output[height] = static_cast<std::uint8_t>(action - kPushFirst);
      height = pop ? height - (height > 0 ? 1 : 0) : height + 1;
    }
    std::reverse(output.begin(), output.begin() + static_cast<std::ptrdiff_t>(height));
    output[height] = kTerminator;
    std::fill(output.begin() + static_cast<std::ptrdiff_t>(height) + 1, output.end(), std::uint8_t{0});
  }
};

const Registered<TaskEntry> stack_manipulation_entry{
    {.name = "stack_manipulation",
     .level = Level::kDcf,
     .summary = "stack, top first, after pops and pushes",
     .output_length = "L + 1",
     .chance = 0.5,
     .pitfalls = {kTerminatorPitfall,
                  "The output is the stack from top to bottom, the input gives it from bottom to top."},
     .make = make_task<StackManipulation>}};

}  // namespace
}  // namespace che
