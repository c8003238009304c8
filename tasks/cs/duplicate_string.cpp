// The input twice.
//
//   abaab -> abaababaab
//   ba -> baba
#include <algorithm>

#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

class DuplicateString : public Task {
 public:
  std::string_view input_symbols() const override { return "ab"; }
  std::string_view output_symbols() const override { return "ab"; }
  std::int64_t output_length(std::int64_t length) const override { return 2 * length; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    fill_uniform_bits(random, input);
    const auto second = std::copy(input.begin(), input.end(), output.begin());
    std::copy(input.begin(), input.end(), second);
  }
};

const Registered<TaskEntry> duplicate_string_entry{
    {.name = "duplicate_string",
     .level = Level::kCs,
     .summary = "the input twice",
     .output_length = "2 L",
     .chance = 0.5,
     .pitfalls = {"The output is exactly twice the input; the DAPE paper's example lacks a letter."},
     .make = make_task<DuplicateString>}};

}  // namespace
}  // namespace che
