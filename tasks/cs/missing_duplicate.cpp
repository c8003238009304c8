// The symbol that a hole (?) hides in a string written twice; an odd length ends in padding (_).
//
//   ab?aba -> a
//   bb?b_ -> b
#include <algorithm>

#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

constexpr std::uint8_t kHole = 2;
constexpr std::uint8_t kPadding = 3;

class MissingDuplicate : public Task {
 public:
  std::string_view input_symbols() const override { return "ab?_"; }
  std::string_view output_symbols() const override { return "ab"; }
  std::int64_t output_length(std::int64_t) const override { return 1; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    const std::size_t half = input.size() / 2;
    if (half == 0) {  // As published: there is no word, and always this answer.
      input[0] = 1;
      output[0] = 1;
      return;
    }
    const auto word = input.first(half);
    fill_uniform_bits(random, word);
    std::copy(word.begin(), word.end(), input.subspan(half).begin());
    if (input.size() % 2 == 1) input.back() = kPadding;
    const std::size_t hole = random.below(2 * half);
    output[0] = input[hole];
    input[hole] = kHole;
  }
};

const Registered<TaskEntry> missing_duplicate_entry{
    {.name = "missing_duplicate",
     .level = Level::kCs,
     .summary = "the symbol that a hole hides in a string written twice",
     .output_length = "1",
     .chance = 0.5,
     .pitfalls =
         {"An odd length ends in padding, a symbol of its own: padding with 0 or 1 changes the task."},
     .make = make_task<MissingDuplicate>}};

}  // namespace
}  // namespace che
