#include "core/random.h"

#include <xxhash.h>

#include <cmath>
#include <numbers>

#include "core/error.h"

namespace che {

std::uint64_t keyed_seed(std::uint64_t seed, std::string_view name) {
  return XXH3_64bits_withSeed(name.data(), name.size(), seed);
}

RandomStream::RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t example,
                           std::uint32_t substream) {
  constexpr std::uint64_t kWord = std::uint64_t{1} << 32;
  if (step >= kWord || example >= kWord || substream >= (1U << 28)) {
    throw Error("random stream: step and example must be below 2^32, substream below 2^28",
                ErrorKind::kRuntime);
  }
  key_[0] = static_cast<std::uint32_t>(seed);
  key_[1] = static_cast<std::uint32_t>(seed >> 32);
  counter_[0] = 0;
  counter_[1] = static_cast<std::uint32_t>(example);
  counter_[2] = static_cast<std::uint32_t>(step);
  counter_[3] = (substream << 4) | static_cast<std::uint32_t>(purpose);
}

void RandomStream::refill() {
  words_ = r123::Philox4x32{}(counter_, key_);
  ++counter_[0];
  used_ = 0;
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace che
