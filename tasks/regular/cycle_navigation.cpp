// The cell that a walk on a ring of five cells ends in; it starts in cell 0, each step is back (-),
// stay (0) or forward (+).
//
//   ++0+- -> 2
//   -0- -> 3
#include <numeric>

#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

class CycleNavigation : public Task {
 public:
  std::string_view input_symbols() const override { return "-0+"; }
  std::string_view output_symbols() const override { return "01234"; }
  std::int64_t output_length(std::int64_t) const override { return 1; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    fill_uniform<3>(random, input);
    // A step is its symbol minus 1, and -1 = 4 on the ring.
    const std::uint64_t symbols = std::accumulate(input.begin(), input.end(), std::uint64_t{0});
    output[0] = static_cast<std::uint8_t>((symbols + 4 * input.size()) % 5);
  }
};

const Registered<TaskEntry> cycle_navigation_entry{
    {.name = "cycle_navigation",
     .level = Level::kRegular,
     .summary = "end of a walk on a ring of 5 cells",
     .output_length = "1",
     .chance = 0.2,
     .pitfalls = {"Moves are shown as -, 0 and +; the DAPE paper's example has the digits 0, 1, 2 for stay, "
                  "forward and back."},
     .permutation_invariant = true,
     .make = make_task<CycleNavigation>}};

}  // namespace
}  // namespace che
