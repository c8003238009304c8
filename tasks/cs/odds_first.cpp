// Every second symbol, then the others: by default, as in the released program, the 2nd, 4th, ...
// first.
//
//   aaabaa -> abaaaa
//   abbba -> bbaba
#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

enum class Order : std::uint8_t { kEvenFirst, kOddFirst };

struct OddsFirstOptions {
  Order order = Order::kEvenFirst;

  void visit_fields(FieldVisitor& visit) {
    visit.choice({.name = "order",
                  .help = "which symbols come first, counted from 1: the 2nd, 4th, ... as in the released "
                          "program, or the 1st, 3rd, ... as in the published description",
                  .hashed_name = "odds_first_order"},
                 order, {"even_first", "odd_first"});
  }
};

class OddsFirst : public Task {
 public:
  explicit OddsFirst(const OddsFirstOptions& options) : start_(options.order == Order::kEvenFirst ? 1 : 0) {}

  std::string_view input_symbols() const override { return "ab"; }
  std::string_view output_symbols() const override { return "ab"; }
  std::int64_t output_length(std::int64_t length) const override { return length; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    fill_uniform_bits(random, input);
    std::size_t written = 0;
    for (std::size_t i = start_; i < input.size(); i += 2) output[written++] = input[i];
    for (std::size_t i = 1 - start_; i < input.size(); i += 2) output[written++] = input[i];
  }

 private:
  std::size_t start_;  // Index of the input that the output starts with.
};

const Registered<TaskEntry> odds_first_entry{
    {.name = "odds_first",
     .level = Level::kCs,
     .summary = "every second symbol, then the others",
     .output_length = "L",
     .chance = 0.5,
     .pitfalls = {"Even positions first, counted from 1, as the released program emits; order: odd_first "
                  "gives the published description."},
     .options = OddsFirstOptions(),
     .make = make_task<OddsFirst, OddsFirstOptions>}};

}  // namespace
}  // namespace che
