#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"
#include "models/ops/dropout/dropout_kernels.h"

namespace che {

// Which dropout masks a forward pass uses. A mask value depends only on the replica's seed, purpose,
// step, example, site, token and feature.
struct Dropout {
  double rate = 0;                       // Fraction of values set to 0; rounded to a multiple of 2^-16.
  std::vector<std::int64_t> seeds = {};  // One per replica.
  Purpose purpose = Purpose::kDropout;
  std::uint64_t step = 0;           // Training step or evaluated length.
  std::uint64_t first_example = 0;  // The number of the batch's first row.

  // Throws Error unless there is a seed for each replica, or nothing to drop.
  void check_seeds(std::int64_t replicas) const;
};

// One of the dropouts of a forward pass.
struct DropoutSite {
  const Dropout& dropout;
  std::uint32_t site;        // Distinguishes the dropouts of one pass.
  std::int64_t first_token;  // The place of the first row at hand in its sequence.
};

// Owns the keys of a DropoutDraws.
class DropoutKeys {
 public:
  explicit DropoutKeys(const DropoutSite& site);

  // Valid while this object lives.
  DropoutDraws draws() const;

 private:
  std::vector<std::uint32_t> keys_;  // (replicas, 2)
  DropoutBits first_;
  std::int64_t first_token_;
};

// Writes the factors (0, or 1/(1-rate)) of values first_index ... of one example.
void dropout_factors(const DropoutBits& bits, std::uint64_t first_index, std::span<float> factors);

}  // namespace che
