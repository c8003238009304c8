#include "models/kernels/forms/dropout.h"

#include <fmt/core.h>

#include <cmath>

#include "core/error.h"

namespace che {
namespace {

// Of 16 bits, those below are dropped.
std::uint32_t dropout_threshold(double rate) { return static_cast<std::uint32_t>(std::lround(rate * 65536)); }

float kept_factor(std::uint32_t threshold) { return 65536.0F / static_cast<float>(65536 - threshold); }

}  // namespace

void dropout_factors(double rate, std::uint64_t seed, Purpose purpose, std::uint64_t step,
                     std::uint64_t example, std::uint32_t site, std::uint64_t first_index,
                     std::span<float> factors) {
  constexpr std::uint64_t kPerBlock = 8;  // Values of 16 bits in one Philox block.
  const std::uint32_t threshold = dropout_threshold(rate);
  const float kept = kept_factor(threshold);
  RandomStream random(seed, purpose, step, example, site);
  random.seek_block(static_cast<std::uint32_t>(first_index / kPerBlock));
  auto skipped = static_cast<std::size_t>(first_index % kPerBlock);
  std::size_t written = 0;
  while (written < factors.size()) {
    std::uint32_t words[4];
    for (std::uint32_t& word : words) word = random();
    for (std::size_t i = skipped; i < kPerBlock && written < factors.size(); ++i) {
      const std::uint32_t bits = (words[i / 2] >> (16 * (i % 2))) & 0xffffU;
      factors[written++] = bits < threshold ? 0.0F : kept;
    }
    skipped = 0;
  }
}

void Dropout::check_seeds(std::int64_t replicas) const {
  if (rate == 0 || static_cast<std::int64_t>(seeds.size()) == replicas) return;
  throw Error(fmt::format("dropout: {} seeds for {} replicas", seeds.size(), replicas), ErrorKind::kRuntime);
}

DropoutBits Dropout::bits(std::int64_t replica, std::int64_t row, std::uint32_t site) const {
  if (rate == 0) return {};
  const RandomStream stream(static_cast<std::uint64_t>(seeds[static_cast<std::size_t>(replica)]), purpose,
                            step, first_example + static_cast<std::uint64_t>(row), site);
  const std::uint32_t threshold = dropout_threshold(rate);
  return {.key = {stream.key()[0], stream.key()[1]},
          .counter = {stream.counter()[1], stream.counter()[2], stream.counter()[3]},
          .threshold = threshold,
          .kept = kept_factor(threshold)};
}

}  // namespace che
