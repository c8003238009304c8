#include "models/ops/dropout/dropout_mask.h"

#include <Random123/philox.h>
#include <fmt/core.h>

#include <cmath>

#include "core/error.h"
#include "models/ops/device/partition.h"

namespace che {

void Dropout::check_seeds(std::int64_t replicas) const {
  if (rate == 0 || static_cast<std::int64_t>(seeds.size()) == replicas) return;
  throw Error(fmt::format("dropout: {} seeds for {} replicas", seeds.size(), replicas), ErrorKind::kRuntime);
}

DropoutKeys::DropoutKeys(const DropoutSite& site) : first_token_(site.first_token) {
  const Dropout& dropout = site.dropout;
  if (dropout.rate == 0) return;
  // Values whose 16 bits are below the threshold are dropped.
  first_.threshold = static_cast<std::uint32_t>(std::lround(dropout.rate * 65536));
  first_.kept = 65536.0F / static_cast<float>(65536 - first_.threshold);
  for (const std::int64_t seed : dropout.seeds) {
    const RandomStream stream(static_cast<std::uint64_t>(seed), dropout.purpose, dropout.step,
                              dropout.first_example, site.site);
    keys_.insert(keys_.end(), {stream.key()[0], stream.key()[1]});
    for (std::size_t word = 0; word < 3; ++word) first_.counter[word] = stream.counter()[word + 1];
  }
}

DropoutDraws DropoutKeys::draws() const {
  return {.keys = keys_.data(), .first = first_, .first_token = first_token_};
}

void dropout_factors(const DropoutBits& bits, std::uint64_t first_index, std::span<float> factors) {
  constexpr std::uint64_t kPerBlock = 8;  // Values of 16 bits in one Philox block.
  r123::Philox4x32 philox;
  auto block = static_cast<std::uint32_t>(first_index / kPerBlock);
  auto skipped = static_cast<std::size_t>(first_index % kPerBlock);
  for (std::size_t written = 0; written < factors.size(); ++block, skipped = 0) {
    const auto words =
        philox({{block, bits.counter[0], bits.counter[1], bits.counter[2]}}, {{bits.key[0], bits.key[1]}});
    for (std::size_t i = skipped; i < kPerBlock && written < factors.size(); ++i) {
      const std::uint32_t drawn = (words[i / 2] >> (16 * (i % 2))) & 0xffffU;
      factors[written++] = drawn < bits.threshold ? 0.0F : bits.kept;
    }
  }
}

namespace cpu {
namespace {

int apply(const KernelCall& /*call*/, const DropoutInputs& in, float* out) {
  constexpr std::int64_t kMaxParts = 64;
  const std::int64_t per_example = in.rows * in.width;
  const auto first_index = static_cast<std::uint64_t>(in.draws.first_token * in.width);
  Partition{in.replicas * in.batch, kMaxParts}.for_each([&](std::int64_t, std::int64_t example) {
    float* const to = out + example * per_example;
    const float* const from = in.values + example * per_example;
    dropout_factors(in.draws.bits(example / in.batch, example % in.batch), first_index,
                    {to, static_cast<std::size_t>(per_example)});
    for (std::int64_t i = 0; i < per_example; ++i) to[i] *= from[i];
  });
  return kKernelDone;
}

}  // namespace

DropoutKernels dropout_kernels() {
  return {.serves = [](std::int64_t, std::int64_t) { return true; }, .apply = apply};
}

}  // namespace cpu
}  // namespace che
