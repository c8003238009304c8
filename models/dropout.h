#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"
#include "models/kernels/dropout_bits.h"

namespace che {

// Which dropout masks a forward pass uses. A mask value depends on the replica's seed, purpose,
// step, example, site, token and feature alone.
struct Dropout {
  double rate = 0;                       // Share of values set to 0; rounded to a multiple of 2^-16.
  std::vector<std::int64_t> seeds = {};  // One a replica.
  Purpose purpose = Purpose::kDropout;
  std::uint64_t step = 0;           // Training step or evaluated length.
  std::uint64_t first_example = 0;  // Of the batch's first row.

  // x (replicas, batch, tokens, features) with values zeroed and the rest scaled so that the
  // expectation is kept. Row 0 of x is token `first_token` of its sequence. `site` tells the
  // dropouts of one pass apart.
  at::Tensor apply(const at::Tensor& x, std::uint32_t site, std::int64_t first_token) const;

  // Throws Error unless there is a seed for each replica, or nothing to drop.
  void check_seeds(std::int64_t replicas) const;

  // The same for fused operations: row `row` of the batch.
  DropoutBits bits(std::int64_t replica, std::int64_t row, std::uint32_t site) const;
};

// Writes the factors (0, or 1/(1-rate)) of values first_index ... of one example.
void dropout_factors(double rate, std::uint64_t seed, Purpose purpose, std::uint64_t step,
                     std::uint64_t example, std::uint32_t site, std::uint64_t first_index,
                     std::span<float> factors);

}  // namespace che
