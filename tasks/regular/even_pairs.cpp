// Whether the number of neighbouring symbols that differ is even (0) or odd (1).
//
//   aabba -> 0
//   abb -> 1
#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

class EvenPairs : public Task {
 public:
  std::string_view input_symbols() const override { return "ab"; }
  std::string_view output_symbols() const override { return "01"; }
  std::int64_t output_length(std::int64_t) const override { return 1; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    fill_uniform_bits(random, input);
    // Each differing pair flips the symbol once, so their parity is whether the ends differ.
    output[0] = input.front() ^ input.back();
  }
};

const Registered<TaskEntry> even_pairs_entry{
    {.name = "even_pairs",
     .level = Level::kRegular,
     .summary = "parity of the number of neighbours that differ",
     .output_length = "1",
     .chance = 0.5,
     .pitfalls = {"1 where the number of neighbours that differ is odd, that is, where the first and the "
                  "last symbol differ; the DAPE paper's example has the opposite sign."},
     .make = make_task<EvenPairs>}};

}  // namespace
}  // namespace che
