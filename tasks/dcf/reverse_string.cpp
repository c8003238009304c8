// The input backwards.
//
//   aabba -> abbaa
//   ab -> ba
#include <algorithm>

#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

class ReverseString : public Task {
 public:
  std::string_view input_symbols() const override { return "ab"; }
  std::string_view output_symbols() const override { return "ab"; }
  std::int64_t output_length(std::int64_t length) const override { return length; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    fill_uniform_bits(random, input);
    std::reverse_copy(input.begin(), input.end(), output.begin());
  }
};

const Registered<TaskEntry> reverse_string_entry{
    {.name = "reverse_string",
     .level = Level::kDcf,
     .summary = "the input backwards",
     .output_length = "L",
     .chance = 0.5,
     .pitfalls = {"The output has no terminator: its length is that of the input."},
     .make = make_task<ReverseString>}};

}  // namespace
}  // namespace che
