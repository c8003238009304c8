// The digits in ascending order.
//
//   421302214 -> 011222344
//   423040 -> 002344
#include <algorithm>
#include <array>

#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

constexpr std::size_t kDigits = 5;

class BucketSort : public Task {
 public:
  std::string_view input_symbols() const override { return "01234"; }
  std::string_view output_symbols() const override { return "01234"; }
  std::int64_t output_length(std::int64_t length) const override { return length; }

  void sample(RandomStream& random, std::int64_t, std::span<std::uint8_t> input,
              std::span<std::uint8_t> output) const override {
    fill_uniform<kDigits>(random, input);
    std::array<std::size_t, kDigits> counts{};
    for (const std::uint8_t digit : input) ++counts[digit];
    auto next = output.begin();
    for (std::uint8_t digit = 0; digit < kDigits; ++digit) next = std::fill_n(next, counts[digit], digit);
  }
};

const Registered<TaskEntry> bucket_sort_entry{
    {.name = "bucket_sort",
     .level = Level::kCs,
     .summary = "the digits in ascending order",
     .output_length = "L",
     .chance = 0.2,
     .pitfalls = {"Five digits only, so that counting them suffices."},
     .permutation_invariant = true,
     .make = make_task<BucketSort>}};

}  // namespace
}  // namespace che
