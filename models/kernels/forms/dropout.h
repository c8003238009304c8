#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"
#include "models/kernels/forms/dropout_bits.h"

namespace che {

// Which dropout masks a forward pass uses. A mask value depends only on the replica's seed, purpose,
// step, example, site, token and feature.
struct Dropout {
  double rate = 0;                       // Fraction of values set to 0; rounded to a multiple of 2^-16.
  std::vector<std::int64_t> seeds = {};  // One per replica.
  Purpose purpose = Purpose::kDropout;
  std::uint64_t step = 0;           // Training step or evaluated length.
  std::uint64_t first_example = 0;  // Of the batch's first row.

  // Throws Error unless there is a seed for each replica, or nothing to drop.
  void check_seeds(std::int64_t replicas) const;

  // The stream of row `row` of the batch at `site`.
  DropoutBits bits(std::int64_t replica, std::int64_t row, std::uint32_t site) const;
};

// One of the dropouts of a forward pass.
struct DropoutSite {
  const Dropout& dropout;
  std::uint32_t site;        // Distinguishes the dropouts of one pass.
  std::int64_t first_token;  // Of the rows at hand, within their sequences.
};

// Writes the factors (0, or 1/(1-rate)) of values first_index ... of one example.
void dropout_factors(double rate, std::uint64_t seed, Purpose purpose, std::uint64_t step,
                     std::uint64_t example, std::uint32_t site, std::uint64_t first_index,
                     std::span<float> factors);

}  // namespace che
