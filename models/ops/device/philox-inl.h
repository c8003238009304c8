// Philox4x32-10 (Salmon et al., SC 2011; models/ops/dropout/dropout_mask.h's stream) on as many counters as a
// vector has lanes: about two instructions a 16-bit value. Included once for every instruction set.
#if defined(CHE_MODELS_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CHE_MODELS_KERNELS_PHILOX_INL_H_
#undef CHE_MODELS_KERNELS_PHILOX_INL_H_
#else
#define CHE_MODELS_KERNELS_PHILOX_INL_H_
#endif

#include <hwy/highway.h>

#include "models/ops/dropout/dropout_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::uint32_t>;
using WordVector = hn::Vec<Words>;

// The high and low halves of the 64-bit products.
HWY_INLINE void multiply_wide(WordVector a, WordVector m, WordVector& high, WordVector& low) {
  const Words d;
#if HWY_TARGET == HWY_SCALAR
  const std::uint64_t product = std::uint64_t{hn::GetLane(a)} * hn::GetLane(m);
  high = hn::Set(d, static_cast<std::uint32_t>(product >> 32));
  low = hn::Set(d, static_cast<std::uint32_t>(product));
#else
  const hn::RepartitionToWide<Words> wide;
  const auto even = hn::BitCast(d, hn::MulEven(a, m));
  const auto odd = hn::BitCast(d, hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), m));
  high = hn::OddEven(odd, hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, even))));
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(wide, odd))), even);
#endif
}

// Writes 8 * Lanes values of 16 bits: those of the blocks first_block, first_block + 1, ...
HWY_INLINE void philox_bits(const DropoutBits& stream, std::uint32_t first_block, std::uint16_t* bits) {
  const Words d;
  const WordVector factor0 = hn::Set(d, 0xD2511F53U);
  const WordVector factor1 = hn::Set(d, 0xCD9E8D57U);
  WordVector c0 = hn::Iota(d, first_block);
  WordVector c1 = hn::Set(d, stream.counter[0]);
  WordVector c2 = hn::Set(d, stream.counter[1]);
  WordVector c3 = hn::Set(d, stream.counter[2]);
  std::uint32_t key0 = stream.key[0];
  std::uint32_t key1 = stream.key[1];
  for (int round = 0; round < 10; ++round) {
    WordVector high0, low0, high1, low1;
    multiply_wide(c0, factor0, high0, low0);
    multiply_wide(c2, factor1, high1, low1);
    c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, key0));
    c1 = low1;
    c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, key1));
    c3 = low0;
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  hn::StoreInterleaved4(c0, c1, c2, c3, d, reinterpret_cast<std::uint32_t*>(bits));
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
