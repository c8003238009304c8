// Whether the number of ones is even (0) or odd (1).
//
//   01101 -> 1
//   1001 -> 0
#include <functional>
#include <numeric>

#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

class ParityCheck : public Task {
 public:
  std::string_view input_symbols() const override { return "01"; }
  std::string_view output_symbols() const override { return "01"; }
  std::int64_t output_length(std::int64_t) const override { return 1; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    fill_uniform_bits(random, input);
    output[0] = std::reduce(input.begin(), input.end(), std::uint8_t{0}, std::bit_xor<>());
  }
};

const Registered<TaskEntry> parity_check_entry{
    {.name = "parity_check",
     .level = Level::kRegular,
     .summary = "parity of the number of ones",
     .output_length = "1",
     .chance = 0.5,
     .pitfalls = {"Bits, and 0 for an even number of ones; the DAPE paper's example has letters.",
                  "It does not depend on the order of the input."},
     .permutation_invariant = true,
     .make = make_task<ParityCheck>}};

}  // namespace
}  // namespace che
