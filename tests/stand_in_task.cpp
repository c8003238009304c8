// A task whose generator has a second version, as no real one has, for tests of results of both.

#include <algorithm>

#include "tasks/task.h"

namespace che {
namespace {

class StandIn : public Task {
 public:
  std::string_view input_symbols() const override { return "ab"; }
  std::string_view output_symbols() const override { return "01"; }
  std::int64_t output_length(std::int64_t) const override { return 1; }

  void sample(RandomStream&, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    std::ranges::fill(input, std::uint8_t{0});
    output[0] = 0;
  }
};

const Registered<TaskEntry> registered{{.name = "stand_in",
                                        .level = Level::kRegular,
                                        .summary = "",
                                        .output_length = "1",
                                        .chance = 0.5,
                                        .version = 2,
                                        .make = make_task<StandIn>}};

}  // namespace
}  // namespace che
