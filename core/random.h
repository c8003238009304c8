#pragma once

#include <Random123/philox.h>

#include <cstdint>
#include <string_view>

namespace che {

// The purpose of a random number. Values of different purposes never share a stream.
enum class Purpose : std::uint32_t {
  kInit = 0,
  kLengths = 1,
  kData = 2,
  kPositions = 3,
  kDropout = 4,
  kEvaluation = 5,
  kEvaluationPositions = 6,
  kEvaluationDropout = 7,
  kStatistics = 8,
};

// A seed that depends on `name` too (a task, a parameter), so that streams of different names are
// independent.
std::uint64_t keyed_seed(std::uint64_t seed, std::string_view name);

// A counter-based random stream (Philox4x32-10 of Random123): its values depend on the five
// arguments of the constructor and on how many were taken, on nothing else. Copyable, 48 bytes.
class RandomStream {
 public:
  using result_type = std::uint32_t;

  // `step` (or a length) and `example` are below 2^32, `substream` (a layer, a dropout site) is
  // below 2^28.
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t step = 0, std::uint64_t example = 0,
               std::uint32_t substream = 0);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffffffffU; }

  // 32 uniform bits.
  result_type operator()() {
    if (used_ == 4) refill();
    return words_[used_++];
  }

  std::uint64_t bits64() {
    const std::uint64_t low = (*this)();
    return low | (std::uint64_t{(*this)()} << 32);
  }

  // Uniform over 0 .. bound-1, without bias; 0 < bound <= 2^32.
  std::uint32_t below(std::uint64_t bound) {
    // Lemire, "Fast random integer generation in an interval" (arXiv 1805.10941).
    std::uint64_t product = std::uint64_t{(*this)()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint64_t threshold = ((std::uint64_t{1} << 32) - bound) % bound;
      while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{(*this)()} * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  // Uniform over [0, 1), 53 bits.
  double uniform() { return static_cast<double>(bits64() >> 11) * 0x1.0p-53; }

  // Philox maps these: a counter whose word 0 counts blocks of four words, and a key.
  const r123::Philox4x32::ctr_type& counter() const { return counter_; }
  const r123::Philox4x32::key_type& key() const { return key_; }

  // Standard normal (Box-Muller, one value a call so that the stream has no hidden state).
  double normal();

 private:
  void refill();

  r123::Philox4x32::key_type key_;
  r123::Philox4x32::ctr_type counter_;
  r123::Philox4x32::ctr_type words_{};
  unsigned used_ = 4;
};

}  // namespace che
