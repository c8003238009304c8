// The integer square root of a binary number, both most significant bit first with leading zeros: by default
// the floor, as in the released program.
//
//   100010 -> 101
//   01111 -> 011
#include "tasks/cs/binary_number.h"
#include "tasks/task.h"

namespace che {
namespace {

struct ComputeSqrtOptions {
  Rounding rounding = Rounding::kFloor;

  void visit_fields(FieldVisitor& visit) {
    visit.choice({.name = "rounding",
                  .help = "the floor of the root, as in the released program, or the nearest number, as in "
                          "Table 4 of the DAPE paper, in floor(L / 2) + 1 bits"},
                 rounding, {"floor", "nearest"});
  }
};

class ComputeSqrt : public Task {
 public:
  explicit ComputeSqrt(const ComputeSqrtOptions& options) : rounding_(options.rounding) {}

  std::string_view input_symbols() const override { return "01"; }
  std::string_view output_symbols() const override { return "01"; }
  std::int64_t output_length(std::int64_t length) const override {
    // The nearest root of 2^L - 1 is 2^(L / 2) for an even L.
    return rounding_ == Rounding::kFloor ? (length + 1) / 2 : length / 2 + 1;
  }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    draw_nonzero(random, input);
    integer_square_root(input, rounding_, output);
  }

 private:
  Rounding rounding_;
};

const Registered<TaskEntry> compute_sqrt_entry{
    {.name = "compute_sqrt",
     .level = Level::kCs,
     .summary = "integer square root of a binary number",
     .output_length = "ceil(L / 2)",
     .chance = 0.5,
     .pitfalls = {"The floor of the root, as in the released program; rounding: nearest gives that of the "
                  "DAPE paper's example."},
     .options = ComputeSqrtOptions(),
     .make = make_task<ComputeSqrt, ComputeSqrtOptions>}};

}  // namespace
}  // namespace che
