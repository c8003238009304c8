// The integer square root of a binary number, both most significant bit first with leading zeros.
//
//   100010 -> 101
//   01111 -> 011
#include "tasks/cs/binary_number.h"
#include "tasks/task.h"

namespace che {
namespace {

class ComputeSqrt : public Task {
 public:
  std::string_view input_symbols() const override { return "01"; }
  std::string_view output_symbols() const override { return "01"; }
  std::int64_t output_length(std::int64_t length) const override { return (length + 1) / 2; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    draw_nonzero(random, input);
    integer_square_root(input, output);
  }
};

const Registered<TaskEntry> registered{{.name = "compute_sqrt",
                                        .level = Level::kCs,
                                        .summary = "integer square root of a binary number",
                                        .output_length = "ceil(L / 2)",
                                        .chance = 0.5,
                                        .make = make_task<ComputeSqrt>}};

}  // namespace
}  // namespace che
